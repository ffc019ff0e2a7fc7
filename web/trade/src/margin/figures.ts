/**
 * The figures of a margin account as the margin service computes them, for estimates of what a request would change.
 * Pure; amounts are scaled numbers of lib/scaled.ts, values of an account have twice their places and are exact.
 */
import { formatDecimal } from "#lib/decimal.ts";
import { ceilTo, divideScaled, ONE, readScaled, scaledText, shareOfScaled, toScaled } from "#lib/scaled.ts";
import { sayReason } from "../api/messages.ts";
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

/** The fair price of an asset in the valuation asset. What is held counts at `low`, what is owed at `high`. */
export interface Price {
  low: bigint;
  price: bigint;
  high: bigint;
  /** What counts instead of `low` and `high` for new risk: the day's median bounds them. */
  securedLow: bigint;
  securedHigh: bigint;
  /** How much counts as collateral beyond what is owed of it; null without a bound. */
  sellable: bigint | null;
  /** How much all accounts together may still borrow; null without a bound. */
  borrowable: bigint | null;
  /** Why nothing can be decided at this price, and what is waited for; null for a price that is sure. */
  unsure: string | null;
}

/** The fair price of each asset that has one. */
export type Marks = ReadonlyMap<string, Price>;

export interface Figures {
  assets: bigint;
  debt: bigint;
}

const NOTHING: Holding = { held: 0n, owed: 0n };
const SURE: ReadonlySet<string> = new Set(["good", "thin"]);

/** The prices as the service sends them with the account. */
export function marksOf({ prices }: Pick<MarginAccount, "prices">): Marks {
  const bound = (text: string | null) => (text === null ? null : toScaled(text));
  return new Map(
    prices.map(({ asset, low, price, high, dayMedian, sellable, borrowable, state, reason }) => [
      asset,
      {
        low: toScaled(low),
        price: toScaled(price),
        high: toScaled(high),
        ...securedOf(toScaled(low), toScaled(high), toScaled(dayMedian)),
        sellable: bound(sellable),
        borrowable: bound(borrowable),
        unsure: SURE.has(state)
          ? null
          : sayReason(`the price of ${asset} is ${state}: ${reason || "wait until its sources agree again"}`)
              .detail,
      },
    ]),
  );
}

/** A median of zero is not known, and bounds nothing. */
function securedOf(low: bigint, high: bigint, median: bigint): Pick<Price, "securedLow" | "securedHigh"> {
  return {
    securedLow: median > 0n && median < low ? median : low,
    securedHigh: median > high ? median : high,
  };
}

/** What counts of each asset. One that margin does not offer secures nothing, and its price is not waited for. */
export function holdingsOf(balances: readonly MarginBalance[]): Holdings {
  const scaled = (text: string) => readScaled(text) ?? 0n;
  return new Map(
    balances
      .filter(({ isOffered }) => isOffered)
      .map(({ asset, total, borrowed, interest }) => [
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
  return sumOf(holdings, marks, ({ held, owed }, { low, high }) => [held * low, owed * high]);
}

/**
 * The values by which new risk is judged: an asset counts up to what its market can absorb, and what is owed of it, and
 * the day's median bounds the prices.
 */
export function securedFiguresOf(holdings: Holdings, marks: Marks): Figures | null {
  return sumOf(holdings, marks, (holding, price) => [
    countedOf(holding, price) * price.securedLow,
    holding.owed * price.securedHigh,
  ]);
}

/** The part of a holding that secures debts. What is owed of it needs no market, the rest has to be sold. */
export function countedOf({ held, owed }: Holding, { sellable }: Price): bigint {
  return sellable === null || held < owed + sellable ? held : owed + sellable;
}

function sumOf(
  holdings: Holdings,
  marks: Marks,
  valuesOf: (holding: Holding, price: Price) => [assets: bigint, debt: bigint],
): Figures | null {
  let [assets, debt] = [0n, 0n];
  for (const [asset, holding] of holdings) {
    if (!isInvolved(holding)) continue;
    const price = marks.get(asset);
    if (price === undefined) return null;
    const [held, owed] = valuesOf(holding, price);
    assets += held;
    debt += owed;
  }
  return { assets, debt };
}

function isInvolved({ held, owed }: Holding): boolean {
  return held !== 0n || owed !== 0n;
}

/** Why a price that a decision needs is not sure: one of the account's assets, or of `others`. Null if all are sure. */
export function unsureOf(holdings: Holdings, marks: Marks, others: readonly string[] = []): string | null {
  const held = [...holdings].filter(([, holding]) => isInvolved(holding)).map(([asset]) => asset);
  for (const asset of [...others, ...held.sort()]) {
    const unsure = marks.get(asset)?.unsure;
    if (unsure) return unsure;
  }
  return null;
}

/** Assets ÷ debt, or null without a debt. Rounded up as in the service: 1.05 is shown only at or below 1.05. */
export function levelOf({ assets, debt }: Figures): bigint | null {
  return debt === 0n ? null : (assets * ONE + debt - 1n) / debt;
}

/** The equity at which an account with this debt is liquidated, rounded up. */
export function maintenanceOf({ debt }: Figures): bigint {
  return (debt * (LIQUIDATION_PERCENT - 100n) + 100n * ONE - 1n) / (100n * ONE);
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

/**
 * Equity less the margin of the open positions; null while an asset has no price. It may be below zero. Collateral
 * counts up to what its market can absorb.
 */
export function availableMargin(account: MarginAccount): bigint | null {
  const figures = securedFiguresOf(holdingsOf(account.balances), marksOf(account));
  if (figures === null) return null;
  return floorDivide(figures.assets - figures.debt, ONE) - boundMargin(account.positions);
}

/** `a / b` rounded down, below zero too; `b` is positive. */
export function floorDivide(a: bigint, b: bigint): bigint {
  return a >= 0n ? a / b : -((-a + b - 1n) / b);
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
  const quoteMark = marks.get(quote)?.price;
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

/** The fair price of the base in the quote asset; null without one. */
export function fairPriceOf(symbol: string, marks: Marks): bigint | null {
  const [base, quote] = symbol.split("-").map((asset) => marks.get(asset));
  return base === undefined || quote === undefined ? null : divideScaled(base.price, quote.price) || 1n;
}

/** The gain (or loss, below zero) of a position at `price`, in the quote asset; null without a price. */
export function unrealised(position: MarginPosition, price: bigint | null): bigint | null {
  const { entryPrice, quantity, side } = position;
  const entry = entryPrice === null ? null : readScaled(entryPrice);
  if (entry === null || price === null) return null;
  const gained = ((price - entry) * toScaled(quantity)) / ONE;
  return side === "buy" ? gained : -gained;
}
