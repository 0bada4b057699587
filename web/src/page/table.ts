// Tables: sorted by a click on a heading, copied as CSV with the raw numbers.

import { button, element } from "./dom";

/** Makes every table of numbers sortable and copyable. The table itself was written by the program. */
export function enliven(table: HTMLTableElement): void {
  const headings = [...(table.tHead?.rows[0]?.cells ?? [])];
  headings.forEach((heading, column) => {
    const sort = button(heading.textContent ?? "", () => sortBy(table, headings, column), "sort");
    heading.replaceChildren(sort);
    heading.setAttribute("aria-sort", "none");
  });
  const status = element("span", { role: "status", class: "copied" });
  const copy = button("Copy as CSV", () => {
    void copyText(csvOf(table)).then((done) => {
      status.textContent = done ? "Copied." : "The browser did not allow it.";
      setTimeout(() => (status.textContent = ""), 4000);
    });
  });
  table.closest(".table-box")?.before(element("p", { class: "table-tools" }, copy, status));
}

function valueOf(cell: HTMLTableCellElement): string {
  return cell.dataset.value ?? cell.textContent ?? "";
}

function sortBy(table: HTMLTableElement, headings: HTMLTableCellElement[], column: number): void {
  const isNumeric = table.tBodies[0]?.rows[0]?.cells[column]?.dataset.value !== undefined;
  const before = headings[column].getAttribute("aria-sort");
  // Numbers are mostly looked at for the greatest.
  const first = isNumeric ? "descending" : "ascending";
  const direction = before === "none" ? first : before === "ascending" ? "descending" : "ascending";
  headings.forEach((heading) => heading.setAttribute("aria-sort", "none"));
  headings[column].setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const compare = (left: HTMLTableRowElement, right: HTMLTableRowElement): number => {
    const [a, b] = [valueOf(left.cells[column]), valueOf(right.cells[column])];
    if (!isNumeric) return sign * a.localeCompare(b);
    // What has no number stands last, whatever the direction.
    if (a === "" || b === "") return Number(a === "") - Number(b === "");
    return sign * (Number(a) - Number(b));
  };
  body.append(...[...body.rows].sort(compare));
}

/** The number of a cell with the sign of a bound before it, as in `≥600`: without it a bound would pass for a value. */
function signedValueOf(cell: HTMLTableCellElement): string {
  const value = valueOf(cell);
  const sign = cell.dataset.value === undefined ? undefined : /^[≥≤<>]/.exec((cell.textContent ?? "").trim())?.[0];
  return value === "" || sign === undefined ? value : sign + value;
}

/** The table as RFC 4180 in its present order, names with units in the first line. */
export function csvOf(table: HTMLTableElement): string {
  const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const names = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.dataset.name ?? cell.textContent ?? "");
  const rows = [...(table.tBodies[0]?.rows ?? [])].map((row) => [...row.cells].map(signedValueOf));
  return [names, ...rows].map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

/** A button that copies a command. */
export function enlivenCommand(box: HTMLElement): void {
  const copy = button("Copy", () => {
    void copyText(box.querySelector("code")?.textContent ?? "").then((done) => {
      copy.textContent = done ? "Copied" : "Select it by hand";
      setTimeout(() => (copy.textContent = "Copy"), 4000);
    });
  });
  box.append(copy);
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages from a file may not use the clipboard everywhere; the old way works there.
    const area = element("textarea", { readonly: "", class: "off-screen" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
