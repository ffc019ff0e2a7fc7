/** CSV files as RFC 4180 has them, safe to open in a spreadsheet. */
import { isDecimal } from "./decimal.ts";

const LINE_END = "\r\n";
const QUOTED = /[",\r\n]/;
/** How a cell begins that a spreadsheet takes for a formula; some take the wide forms too. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** A cell. Null is empty; a text that a spreadsheet would compute is marked as text, and a number stays one. */
export function csvCell(value: string | null): string {
  if (value === null) return "";
  const text = FORMULA.test(value) && !isDecimal(value) ? `'${value}` : value;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line with its end. */
export function csvLine(cells: readonly (string | null)[]): string {
  return cells.map(csvCell).join(",") + LINE_END;
}

/** A file's content: the heads of the columns, then the rows. */
export function csvFile(heads: readonly string[], rows: readonly (readonly (string | null)[])[]): string {
  return [heads, ...rows].map(csvLine).join("");
}
