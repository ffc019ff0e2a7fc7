/**
 * Decimals as the platform sends them: text, with a point and no exponent. Computation goes through big.js in
 * strict mode, which takes no JavaScript numbers at all; nothing here ever rounds unless the name says so.
 */
import Big from "big.js";
import { separators } from "./separators.ts";

Big.strict = true;
Big.NE = -40;
Big.PE = 40;

export type { Big };

const DECIMAL = /^-?\d{1,40}(\.\d{1,40})?$/;

/** Whether `text` is a plain decimal: digits with an optional sign and fraction, at most 40 of each. */
export function isDecimal(text: string): boolean {
  return DECIMAL.test(text);
}

/** The value of a decimal text. Throws RangeError for anything else. */
export function parseDecimal(text: string): Big {
  if (!isDecimal(text)) throw new RangeError(`${JSON.stringify(text)} is not a decimal`);
  return new Big(text);
}

/** `a + b`, exactly. */
export function addDecimals(a: string, b: string): string {
  return parseDecimal(a).plus(parseDecimal(b)).toFixed();
}

/** `a − b`, exactly. */
export function subtractDecimals(a: string, b: string): string {
  return parseDecimal(a).minus(parseDecimal(b)).toFixed();
}

/** −1, 0 or 1 as `a` is less than, equal to or greater than `b`. */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  return parseDecimal(a).cmp(parseDecimal(b));
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
  const cut = parseDecimal(text).round(places, Big.roundDown);
  return cut.eq("0") ? text : cut.toFixed();
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

/**
 * The number nearest to a decimal, for the place of a pixel alone: it needs no more than the sixteen digits that remain.
 * A strict Big refuses to become a number that is not exactly itself.
 */
export function nearestNumber(text: string): number {
  // eslint-disable-next-line openspot/decimal-text -- the place of a pixel
  return Number(parseDecimal(text).toFixed());
}

/** A share between 0 and 1 of a decimal in `total`, for the length of a bar. */
export function shareOf(part: string, total: string): number {
  const whole = parseDecimal(total);
  if (whole.lte("0")) return 0;
  return Math.min(1, Math.max(0, nearestNumber(parseDecimal(part).div(whole).toFixed())));
}
