/**
 * Decimals as the platform sends them: text, with a point and no exponent. They are compared, cut and written digit by
 * digit; nothing here ever rounds unless the name says so. lib/arithmetic.ts computes with them.
 */
import { separators } from "./separators.ts";

const DECIMAL = /^-?\d{1,40}(\.\d{1,40})?$/;

/** Whether `text` is a plain decimal: digits with an optional sign and fraction, at most 40 of each. */
export function isDecimal(text: string): boolean {
  return DECIMAL.test(text);
}

/** −1, 0 or 1 as `a` is less than, equal to or greater than `b`. Throws RangeError for anything but decimals. */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  const places = Math.max(placesOf(a), placesOf(b));
  const difference = unitsOf(a, places) - unitsOf(b, places);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** How many units a decimal is, of which one has `places` digits after the point. */
function unitsOf(text: string, places: number): bigint {
  if (!isDecimal(text)) throw new RangeError(`${JSON.stringify(text)} is not a decimal`);
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(places, "0"));
}

/** Whether a decimal is greater than zero. */
export function isPositive(text: string): boolean {
  return compareDecimals(text, "0") === 1;
}

/** Digits after the point, trailing zeros included. */
export function placesOf(text: string): number {
  return text.split(".")[1]?.length ?? 0;
}

/** A decimal with at most `places` digits after the point, cut; what is less than the last place stays whole. */
export function cutDecimal(text: string, places: number): string {
  if (!isDecimal(text) || placesOf(text) <= places) return text;
  const cut = text.slice(0, places - placesOf(text)).replace(/\.0*$|(?<=\.\d*[1-9])0+$/, "");
  return compareDecimals(cut, "0") === 0 ? text : cut;
}

/**
 * A decimal for reading: in groups, with the page's separators and at least `placesMin` digits after the decimal sign.
 * No digit is ever dropped. A text that is no decimal is returned as it is.
 */
export function formatDecimal(text: string, placesMin = 0): string {
  if (!isDecimal(text)) return text;
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const { decimal, group, boundary } = separators();
  const grouped = whole.replace(boundary, group);
  const padded = fraction.padEnd(placesMin, "0");
  const sign = text.startsWith("-") ? "−" : "";
  return sign + grouped + (padded ? decimal + padded : "");
}
