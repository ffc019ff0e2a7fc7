/**
 * The figures of a margin account as the margin service computes them, for estimates of what a request would change.
 * Pure; amounts are scaled numbers of lib/scaled.ts, values of an account have twice their places and are exact.
 */
import { formatDecimal } from "#lib/decimal.ts";
import { ceilTo, divideScaled, ONE, readScaled, scaledText, shareOfScaled, toScaled } from "#lib/scaled.ts";
import type { Ticker } from "../api/queries.ts";
import type { MarginAccount, MarginBalance, MarginLoan, MarginPosition } from "./queries.ts";

export const WARNING_PERCENT = 150n;
export const LIQUIDATION_PERCENT = 105n;
export const LEVERAGE_MAX = 10n;

/** The amounts of an asset that the account holds and owes. `owed` includes the interest. */
export interface Holding {
  held: bigint;
  owed: bigint;
}

export type Holdings = ReadonlyMap<string, Holding>;
/** The price of one unit of an asset in the valuation asset. */
export type Marks = ReadonlyMap<string, bigint>;

export interface Figures {
  assets: bigint;
  debt: bigint;
}

const NOTHING: Holding = { held: 0n, owed: 0n };

/**
 * The price of each asset in the valuation asset, from the last trades. An asset without a market of its own against
 * the valuation asset is priced through other markets.
 */
export function marksOf(valuationAsset: string, tickers: readonly Ticker[]): Marks {
  const marks = new Map([[valuationAsset, ONE]]);
  const prices = tickers
    .map(({ symbol, lastPrice }) => ({ symbol, price: lastPrice === null ? null : readScaled(lastPrice) }))
    .sort((a, b) => a.symbol.localeCompare(b.symbol));
  for (;;) {
    const found = new Map<string, bigint>();
    for (const { symbol, price } of prices) {
      if (price === null || price <= 0n) continue;
      const [base = "", quote = ""] = symbol.split("-");
      const [baseMark, quoteMark] = [marks.get(base), marks.get(quote)];
      if (quoteMark !== undefined && baseMark === undefined && !found.has(base)) {
        found.set(base, (price * quoteMark) / ONE);
      } else if (baseMark !== undefined && quoteMark === undefined && !found.has(quote)) {
        found.set(quote, divideScaled(baseMark, price));
      }
    }
    const news = [...found].filter(([, mark]) => mark > 0n);
    if (news.length === 0) return marks;
    for (const [asset, mark] of news) marks.set(asset, mark);
  }
}

export function holdingsOf(balances: readonly MarginBalance[]): Holdings {
  const scaled = (text: string) => readScaled(text) ?? 0n;
  return new Map(
    balances.map(({ asset, total, borrowed, interest }) => [
      asset,
      { held: scaled(total), owed: scaled(borrowed) + scaled(interest) },
    ]),
  );
}

/** The holdings after a change of one asset. */
export function changed(holdings: Holdings, asset: string, change: Partial<Holding>): Holdings {
  const before = holdings.get(asset) ?? NOTHING;
  const after = { held: before.held + (change.held ?? 0n), owed: before.owed + (change.owed ?? 0n) };
  return new Map(holdings).set(asset, after);
}

/** The values of all assets and of all debt; null while an asset has no price. */
export function figuresOf(holdings: Holdings, marks: Marks): Figures | null {
  let [assets, debt] = [0n, 0n];
  for (const [asset, { held, owed }] of holdings) {
    if (held === 0n && owed === 0n) continue;
    const mark = marks.get(asset);
    if (mark === undefined) return null;
    assets += held * mark;
    debt += owed * mark;
  }
  return { assets, debt };
}

/** Assets ÷ debt, or null without a debt. Rounded up as in the service: 1.05 is shown only at or below 1.05. */
export function levelOf({ assets, debt }: Figures): bigint | null {
  return debt === 0n ? null : (assets * ONE + debt - 1n) / debt;
}

/** The sum of the required margins of all positions that have not ended. */
export function boundMargin(positions: readonly MarginPosition[]): bigint {
  return positions.filter(isUnderWay).reduce((sum, { requiredMargin }) => sum + toScaled(requiredMargin), 0n);
}

const UNDER_WAY: ReadonlySet<string> = new Set(["opening", "open", "closing", "liquidating"]);

/** Whether a position has not ended. */
export function isUnderWay({ status }: MarginPosition): boolean {
  return UNDER_WAY.has(status);
}

const RUNNING: ReadonlySet<string> = new Set(["pending", "active"]);

/** Whether a loan has not ended. */
export function isRunning({ status }: MarginLoan): boolean {
  return RUNNING.has(status);
}

/** Equity less the margin of the open positions; null while an asset has no price. It may be below zero. */
export function availableMargin({ equity, positions }: MarginAccount): bigint | null {
  return equity === null ? null : toScaled(equity) - boundMargin(positions);
}

/** Notional ÷ leverage, rounded up. */
export function requiredMargin(notional: bigint, leverage: bigint): bigint {
  return (notional * ONE + leverage - 1n) / leverage;
}

/**
 * The price of `base` in `quote` at which the account comes to the liquidation level, all other prices unchanged.
 * Null if no price of this asset alone leads there, or if a price is missing. As in the service, the account is
 * liquidated at this price and not one unit of the 18th place before it: the price of a long is rounded down, that of
 * a short up.
 */
export function liquidationPrice(
  holdings: Holdings,
  marks: Marks,
  base: string,
  quote: string,
): bigint | null {
  const others = figuresOf(new Map([...holdings].filter(([asset]) => asset !== base)), marks);
  const quoteMark = marks.get(quote);
  if (others === null || quoteMark === undefined) return null;
  const own = holdings.get(base) ?? NOTHING;
  const missing = LIQUIDATION_PERCENT * others.debt - 100n * others.assets;
  const slope = (100n * own.held - LIQUIDATION_PERCENT * own.owed) * quoteMark;
  if (missing * slope <= 0n) return null;
  // Both are positive for a long and negative for a short.
  return (slope > 0n ? (missing * ONE) / slope : (-missing * ONE - slope - 1n) / -slope) || null;
}

export type RiskBand = "safe" | "warning" | "liquidation";

/** The risk band of a level. An account without a debt (null) is safe. */
export function riskBandOf(level: bigint | null): RiskBand {
  if (level === null) return "safe";
  if (level * 100n <= LIQUIDATION_PERCENT * ONE) return "liquidation";
  return level * 100n <= WARNING_PERCENT * ONE ? "warning" : "safe";
}

/** A level in percent to two places, rounded up as the level itself is: "142.35 %". */
export function percentOf(level: bigint): string {
  return `${formatDecimal(scaledText(ceilTo(level * 100n, ONE / 100n)))} %`;
}

/** The level at the right end of the scale. Higher levels are drawn there too. */
const SCALE_END_PERCENT = 300n;
const SCALE: readonly (readonly [until: bigint, share: bigint])[] = [
  [100n, 0n],
  [LIQUIDATION_PERCENT, 20n],
  [WARNING_PERCENT, 50n],
  [SCALE_END_PERCENT, 100n],
];

/** The place of a level on its scale, from 0 (left) to 1 (right). Each risk band has its own part of the scale. */
export function scaleShare(level: bigint | null): number {
  const end = SCALE_END_PERCENT * ONE;
  const value = level === null ? end : level * 100n;
  for (let at = 1; at < SCALE.length; at += 1) {
    const [[from, left] = [0n, 0n], [until, right] = [0n, 0n]] = [SCALE[at - 1], SCALE[at]];
    if (value > until * ONE && until !== SCALE_END_PERCENT) continue;
    const within = (value < end ? value : end) - from * ONE;
    return shareOfScaled(left * (until - from) * ONE + within * (right - left), 100n * (until - from) * ONE);
  }
  return 1;
}

/** A value as text with two decimals, rounded down. Two are enough, since it moves with the market. */
export function inCents(value: bigint): string {
  const cent = ONE / 100n;
  const rest = ((value % cent) + cent) % cent;
  return scaledText(value - rest);
}

/** An amount as text with at most `places` decimals, rounded down; zero for a negative one. */
export function cutTo(amount: bigint, places: number): string {
  const step = 10n ** BigInt(18 - Math.min(places, 18));
  return scaledText(amount > 0n ? amount - (amount % step) : 0n);
}

/** A computed price as text, rounded down: two decimals, or more for a low price so that five digits remain. */
export function readablePrice(price: bigint): string {
  let places = 2;
  while (places < 18 && price * 10n ** BigInt(places) < 10_000n * ONE) places += 1;
  return cutTo(price, places);
}

/** The gain (or loss, below zero) of a position at `lastPrice`, in the quote asset; null without a price. */
export function unrealised(position: MarginPosition, lastPrice: string | null | undefined): bigint | null {
  const { entryPrice, quantity, side } = position;
  const [entry, last] = [entryPrice && readScaled(entryPrice), lastPrice && readScaled(lastPrice)];
  if (typeof entry !== "bigint" || typeof last !== "bigint") return null;
  const gained = ((last - entry) * toScaled(quantity)) / ONE;
  return side === "buy" ? gained : -gained;
}
