/** Figures of a portfolio's history: its end, and the share of each asset. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { divideScaled, floorTo, ONE, readScaled, scaledText } from "#lib/scaled.ts";
import type { PortfolioPoint } from "./queries.ts";
import { cents, type Holding, type Valuation } from "./valuation.ts";

const PERCENT = 100n;
const HUNDREDTH = ONE / 100n;

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
