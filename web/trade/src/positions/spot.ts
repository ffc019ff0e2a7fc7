/** The order of holdings, where what is unknown is less than everything. Pure. */
import { compareDecimals } from "#lib/decimal.ts";

export function compareKnown(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareDecimals(a, b);
}
