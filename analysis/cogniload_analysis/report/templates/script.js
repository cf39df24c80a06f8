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
// A long table has a field above it: rows without its text are hidden.
const MANY_ROWS = 12;
for (const table of document.querySelectorAll("table.sorts")) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length <= MANY_ROWS) continue;
  const field = document.createElement("input");
  Object.assign(field, { type: "search", placeholder: "Show rows with …", ariaLabel: "Show rows with" });
  field.addEventListener("input", () => {
    const text = field.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(text);
  });
  table.parentElement.before(field);
}
// A cell of a table of accuracies lists its responses below the table.
function element(name, text, ...inside) {
  const made = document.createElement(name);
  made.append(text, ...inside);
  return made;
}
// A level as the rows have it: without its load's symbol and unit.
const levelOf = (text) => text.split(" = ").pop().replace(" %", "").trim();
function describeResponse(prefix, [place, , ...texts]) {
  const [id, outcome, error, end] = texts.slice(-4);
  const name = element("code", id);
  const link = element("a", "whole");
  link.href = `#${prefix}response-${place}`;
  const whole = document.getElementById(link.href.split("#")[1]) ? [" (", link, ")"] : [];
  const head = element("p", name, `: ${outcome}${error && `; first error: ${error.replace("_", " ")}`}`, ...whole);
  return element("li", head, element("pre", `… ${end}`));
}
for (const data of document.querySelectorAll(".part > script[type='application/json']")) {
  const { prefix, loads, responses } = JSON.parse(data.textContent);
  for (const table of data.parentElement.querySelectorAll("table[data-loads]")) {
    const [down, across] = table.dataset.loads.split(" ").map((name) => 2 + loads.indexOf(name));
    if (down < 2 || across < 2) continue;
    const list = element("ol", "");
    list.className = "responses";
    table.parentElement.after(list);
    table.caption.append(" Click a cell to list its responses.");
    for (const cell of table.querySelectorAll("td.heat")) {
      const button = element("button", cell.textContent);
      button.type = "button";
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        const [model, level] = [...cell.parentElement.cells].map((each) => each.textContent.trim());
        const heading = levelOf(table.tHead.rows[0].cells[cell.cellIndex].textContent);
        const mine = responses.filter((row) => row[1] === model && row[down] === level && row[across] === heading);
        list.replaceChildren(...mine.map((row) => describeResponse(prefix, row)));
        list.scrollIntoView({ block: "nearest" });
      });
    }
  }
}
// An example opens at the word that decides.
function showMarks(within) {
  for (const text of within.querySelectorAll("pre.response")) {
    const mark = text.querySelector("mark.step") || text.querySelector("mark");
    if (mark) text.scrollTop = mark.offsetTop - text.offsetTop - text.clientHeight / 3;
  }
}
showMarks(document);
for (const folded of document.querySelectorAll("details")) folded.addEventListener("toggle", () => showMarks(folded));
// A link into a folded section opens it.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", reveal);
if (location.hash) reveal();
