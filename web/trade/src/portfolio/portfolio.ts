/** Figures of a portfolio's history: its end, and the share of each asset. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { ONE, readScaled, scaledText } from "#lib/scaled.ts";
import type { PortfolioPoint } from "./queries.ts";
import { cents, type Valuation } from "./valuation.ts";

/** One percent and the whole, in hundredths of a percent. */
const HUNDREDTH = ONE / 100n;
const HUNDREDTHS = 10_000n;

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

/**
 * The shares of holdings in their total, in percent with two digits, in the order of the holdings. They add up to 100:
 * the hundredths that cutting leaves over go to the shares that lost the most by it.
 */
export function percentsOf({ holdings, total }: Valuation): string[] {
  if (total <= 0n) return holdings.map(() => "0");
  const exact = holdings.map(({ value }) => (value ?? 0n) * HUNDREDTHS);
  const hundredths = exact.map((share) => share / total);
  const left = HUNDREDTHS - hundredths.reduce((sum, share) => sum + share, 0n);
  const byLoss = exact
    .map((share, index) => ({ index, lost: share % total }))
    .sort((a, b) => (a.lost === b.lost ? a.index - b.index : a.lost > b.lost ? -1 : 1));
  const raised = new Set(byLoss.slice(0, Number(left)).map(({ index }) => index));
  return hundredths.map((share, index) => scaledText((share + (raised.has(index) ? 1n : 0n)) * HUNDREDTH));
}
