/**
 * Decimals as whole numbers of 10⁻¹⁸, as the platform itself counts them: exact, quick to compare and to add, and
 * never a JavaScript number. Order books and estimates are computed with them.
 */
import { isDecimal } from "./decimal.ts";

export const SCALED_PLACES = 18;
/** One, as a scaled number. */
export const ONE = 10n ** BigInt(SCALED_PLACES);

/** The scaled value of a decimal text. Throws RangeError for anything else, and for more than 18 places. */
export function toScaled(text: string): bigint {
  const [whole = "", fraction = ""] = text.split(".");
  if (!isDecimal(text) || fraction.length > SCALED_PLACES) {
    throw new RangeError(`${JSON.stringify(text)} is not a decimal of at most ${SCALED_PLACES} places`);
  }
  return BigInt(whole + fraction.padEnd(SCALED_PLACES, "0"));
}

/** `toScaled`, or null where the text is none. */
export function readScaled(text: string): bigint | null {
  const [, fraction = ""] = text.split(".");
  return isDecimal(text) && fraction.length <= SCALED_PLACES ? toScaled(text) : null;
}

/** The decimal text of a scaled number, in its shortest form. */
export function scaledText(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(SCALED_PLACES + 1, "0");
  const fraction = digits.slice(-SCALED_PLACES).replace(/0+$/, "");
  const whole = digits.slice(0, -SCALED_PLACES);
  return (value < 0n ? "-" : "") + whole + (fraction ? `.${fraction}` : "");
}

/** `a · b`, cut after the 18th place. */
export function multiplyScaled(a: bigint, b: bigint): bigint {
  return (a * b) / ONE;
}

/** `a · b` at 18 places, rounded up. Neither is negative. */
export function multiplyScaledUp(a: bigint, b: bigint): bigint {
  return (a * b + ONE - 1n) / ONE;
}

/** `a / b`, cut after the 18th place. `b` must not be zero. */
export function divideScaled(a: bigint, b: bigint): bigint {
  return (a * ONE) / b;
}

/** The largest multiple of `step` that is not above `value`; neither is negative. */
export function floorTo(value: bigint, step: bigint): bigint {
  return step <= 0n ? value : value - (value % step);
}

/** The smallest multiple of `step` that is not below `value`; neither is negative. */
export function ceilTo(value: bigint, step: bigint): bigint {
  return step <= 0n ? value : floorTo(value + step - 1n, step);
}

/** A share between 0 and 1, for the length of a bar: a pixel needs no more than six digits. */
export function shareOfScaled(part: bigint, total: bigint): number {
  if (total <= 0n || part <= 0n) return 0;
  return part >= total ? 1 : Number((part * 1_000_000n) / total) / 1_000_000;
}
