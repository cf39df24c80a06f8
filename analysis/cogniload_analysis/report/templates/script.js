"use strict";
// A click on a column's heading sorts the table by it; a second one turns the order.
const NUMBER = /^(?:(?:[<>×~±]|above|below)\s*)?([-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)(?=K?(?:$|[\s%[*†‡–]))/i;
function numberOf(text) {
  if (/^[-+]?(?:unbounded|inf)/.test(text)) return text[0] === "-" ? -Infinity : Infinity;
  const found = NUMBER.exec(text);
  return found ? parseFloat(found[1].replace(/,/g, "")) : null;
}
// A column is one of numbers if every cell that is not empty begins with one.
function valuesOf(texts) {
  const numbers = texts.map(numberOf);
  const isEmpty = (text) => text === "" || text.startsWith("--");
  const counted = texts.every((text, place) => isEmpty(text) || numbers[place] !== null);
  return texts.map((text, place) => (isEmpty(text) ? null : counted ? numbers[place] : text));
}
function compare(a, b) {
  if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
  return a < b ? -1 : a > b ? 1 : 0;
}
for (const table of document.querySelectorAll("table.sorts")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = heading.querySelector("button");
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") !== "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      const values = valuesOf(rows.map((row) => row.cells[column].textContent.trim()));
      const pairs = rows.map((row, place) => [values[place], row]);
      pairs.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return down ? compare(b, a) : compare(a, b);
      });
      table.tBodies[0].append(...pairs.map((each) => each[1]));
    });
  });
}
// A link into a folded section opens it.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", reveal);
if (location.hash) reveal();
