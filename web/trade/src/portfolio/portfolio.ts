/** Figures of a portfolio's history: the change of its value, and the share of each asset. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { divideScaled, floorTo, ONE, readScaled, scaledText } from "#lib/scaled.ts";
import type { PortfolioPoint } from "./queries.ts";
import type { Holding } from "./valuation.ts";

const CENT = 10n ** 16n;
const PERCENT = 100n;
const HUNDREDTH = ONE / 100n;

export interface Change {
  /** In US dollars, with a sign if it is negative. */
  amount: string;
  /** The change in percent with two decimals; null if the value was zero at first. */
  percent: string | null;
}

/** The change of the value from the first point to the last; null if there are fewer than two points. */
export function changeOf(points: readonly PortfolioPoint[]): Change | null {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last || first === last) return null;
  const [before, after] = [readScaled(first.value) ?? 0n, readScaled(last.value) ?? 0n];
  const difference = after - before;
  const percent = before > 0n ? divideScaled(difference * PERCENT, before) : null;
  return {
    amount: scaledText(cut(difference, CENT)),
    percent: percent === null ? null : scaledText(cut(percent, HUNDREDTH)),
  };
}

/** A value as text, cut to cents: "1,234.50". */
export function dollars(text: string): string {
  const value = readScaled(text);
  return value === null ? text : formatDecimal(scaledText(cut(value, CENT)), 2);
}

/** The share of a holding in the whole, in percent with two digits. */
export function percentOf({ value }: Holding, total: bigint): string {
  if (value === null || total <= 0n) return "0";
  return scaledText(floorTo(divideScaled(value * PERCENT, total), HUNDREDTH));
}

/** Cut towards zero to a multiple of `step`. */
function cut(value: bigint, step: bigint): bigint {
  return value < 0n ? -floorTo(-value, step) : floorTo(value, step);
}
