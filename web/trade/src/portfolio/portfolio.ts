/** Figures of a portfolio's history: the change of its value, and the share of each asset. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { divideScaled, floorTo, multiplyScaled, ONE, readScaled, scaledText } from "#lib/scaled.ts";
import type { PortfolioPoint } from "./queries.ts";
import { cents, type Holding, type Valuation } from "./valuation.ts";

const PERCENT = 100n;
const HUNDREDTH = ONE / 100n;

export interface Change {
  /** How much the value changed, in US dollars: deposits and withdrawals are a part of it. */
  amount: string;
  /** What the moves of prices made of what was held, in US dollars: a deposit is no gain. */
  gain: string;
  /** The gain in percent with two decimals, compounded from point to point; null if nothing was held before. */
  percent: string | null;
}

/**
 * A history that ends with what the page says the wallet is worth, so that graph and figure are one. The exchange's own
 * last point was read at another moment.
 */
export function withPresent(points: readonly PortfolioPoint[], wallet: Valuation): readonly PortfolioPoint[] {
  const last = points.at(-1);
  if (!last) return points;
  const holdings = wallet.holdings
    .filter(({ value }) => value !== 0n)
    .map(({ balance, price, value }) => ({
      asset: balance.asset,
      balance: balance.total,
      price: price === null ? null : scaledText(price),
      value: value === null ? null : scaledText(value),
    }));
  const { timestamp } = last;
  const present = { timestamp, value: scaledText(wallet.total), unpriced: [...wallet.unpriced], holdings };
  return [...points.slice(0, -1), present];
}

/** The change of the value from the first point to the last; null if there are fewer than two points. */
export function changeOf(points: readonly PortfolioPoint[]): Change | null {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last || first === last) return null;
  let gain = 0n;
  let growth: bigint | null = null;
  let before = first;
  for (const after of points.slice(1)) {
    const made = gainBetween(before, after);
    const value = scaled(before.value);
    gain += made;
    if (value > 0n) growth = ((growth ?? ONE) * (value + made)) / value;
    before = after;
  }
  return {
    amount: scaledText(cents(scaled(last.value) - scaled(first.value))),
    gain: scaledText(cents(gain)),
    percent: growth === null ? null : scaledText(cut((growth - ONE) * PERCENT, HUNDREDTH)),
  };
}

/** What the moves of prices made of what was held at a point, until the next one. */
function gainBetween(before: PortfolioPoint, after: PortfolioPoint): bigint {
  const prices = new Map(after.holdings.map(({ asset, price }) => [asset, price]));
  return before.holdings.reduce((sum, { asset, balance, price }) => {
    const next = prices.get(asset);
    return price && next ? sum + multiplyScaled(scaled(balance), scaled(next) - scaled(price)) : sum;
  }, 0n);
}

const scaled = (text: string) => readScaled(text) ?? 0n;

/** A value as text, cut to cents: "1,234.50". */
export function dollars(text: string): string {
  const value = readScaled(text);
  return value === null ? text : formatDecimal(scaledText(cents(value)), 2);
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
