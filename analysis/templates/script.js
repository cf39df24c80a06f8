"use strict";
// A click on a column's heading sorts the table by it; a second one turns the order.
function valueOf(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = parseFloat(text.replace(/^[^\d\-+.]*/, "").replace(/,/g, ""));
  return [Number.isNaN(number) ? null : number, text];
}
function compare(first, second) {
  const [a, s] = first, [b, t] = second;
  if (a !== null && b !== null) return a - b;
  if (a !== null || b !== null) return a === null ? 1 : -1;
  return s < t ? -1 : s > t ? 1 : 0;
}
for (const table of document.querySelectorAll("table.sorts")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = heading.querySelector("button");
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") !== "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, column), row]);
      rows.sort((a, b) => (down ? compare(b[0], a[0]) : compare(a[0], b[0])));
      table.tBodies[0].append(...rows.map((each) => each[1]));
    });
  });
}
