/**
 * Computation with decimals that are text. It goes through big.js in strict mode, which takes no JavaScript numbers at
 * all; nothing here ever rounds unless the name says so.
 */
import Big from "big.js";
import { isDecimal } from "./decimal.ts";

Big.strict = true;
Big.NE = -40;
Big.PE = 40;

/** The value of a decimal text. Throws RangeError for anything else. */
function parseDecimal(text: string): Big {
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
