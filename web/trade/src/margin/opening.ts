/** Estimates what opening a position would do, and says why it is not possible. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import {
  divideScaled,
  floorTo,
  multiplyScaledUp,
  ONE,
  readScaled,
  scaledText,
  toScaled,
} from "#lib/scaled.ts";
import type { Schemas } from "../api/client.ts";
import type { Market, Ticker } from "../api/queries.ts";
import {
  availableMargin,
  changed,
  figuresOf,
  type Holdings,
  holdingsOf,
  LEVERAGE_MAX,
  levelOf,
  liquidationPrice,
  marksOf,
  percentOf,
  requiredMargin,
  riskBandOf,
} from "./figures.ts";
import type { MarginAccount } from "./queries.ts";

export interface OpeningDraft {
  side: "buy" | "sell";
  quantity: string;
  leverage: string;
}

export interface OpeningFacts {
  market: Market | undefined;
  account: MarginAccount;
  tickers: readonly Ticker[];
}

export interface OpeningEstimate {
  /** The price of the last trade, in the quote asset. */
  lastPrice: bigint;
  /** Quantity × price in the quote asset. It is counted at the mark prices, as in the service. */
  notional: bigint;
  /** The margin that the position needs, in the valuation asset. */
  required: bigint;
  /** The part of the notional that the account pays itself, in the quote asset. */
  paid: bigint;
  borrowedAsset: string;
  borrowed: bigint;
  /** The level of the account afterwards; null without a debt, or while an asset has no price. */
  level: bigint | null;
  liquidationPrice: bigint | null;
}

export type OpeningBody = Omit<Schemas["OpenPositionBody"], "requestId" | "quantity" | "leverage"> & {
  quantity: string;
  leverage: string;
};

export interface OpeningReview {
  faults: { quantity?: string; leverage?: string };
  /** Why the position cannot be opened, or null. */
  blocked: string | null;
  estimate: OpeningEstimate | null;
  body: OpeningBody | null;
}

/** Checks a draft: its faults, the estimate, and the request to send. */
export function reviewOpening(draft: OpeningDraft, facts: OpeningFacts): OpeningReview {
  const { market, account } = facts;
  const faults: OpeningReview["faults"] = {};
  const nothing = { faults, estimate: null, body: null };
  if (account.status !== "active") return { ...nothing, blocked: "Your account is being liquidated." };
  if (!market) return { ...nothing, blocked: "Choose a market." };
  if (!market.active) return { ...nothing, blocked: `${market.symbol} is closed for trading.` };
  const quantity = quantityFault(draft, market);
  const leverage = leverageFault(draft);
  if (quantity) faults.quantity = quantity;
  if (leverage) faults.leverage = leverage;
  if (Object.keys(faults).length > 0) return { ...nothing, blocked: "Correct the marked field." };
  const lastPrice = lastPriceOf(facts);
  if (lastPrice === null) {
    return { ...nothing, blocked: "Nobody has traded here yet, so there is no price to open at." };
  }
  if (draft.quantity.trim() === "") return { ...nothing, blocked: "Enter a quantity." };
  const estimate = estimateOf(draft, facts, market, lastPrice);
  if (estimate === null) {
    return { ...nothing, blocked: `${market.quoteAsset} has no price in ${account.valuationAsset} yet.` };
  }
  const blocked = limitsFault(draft, market, estimate) ?? marginFault(estimate, account);
  const body = {
    symbol: market.symbol,
    side: draft.side,
    quantity: scaledText(toScaled(draft.quantity.trim())),
    leverage: draft.leverage.trim(),
  };
  return { faults, blocked, estimate, body };
}

function lastPriceOf({ market, tickers }: OpeningFacts): bigint | null {
  const last = tickers.find(({ symbol }) => symbol === market?.symbol)?.lastPrice;
  return last ? readScaled(last) : null;
}

function quantityFault({ quantity }: OpeningDraft, market: Market): string | null {
  const text = quantity.trim();
  if (text === "") return null;
  const value = readScaled(text);
  if (value === null) return "A quantity is digits with a point, such as 0.25.";
  if (value <= 0n) return "A quantity is more than zero.";
  if (value % toScaled(market.lotSize) !== 0n) {
    return `Quantities go in steps of ${formatDecimal(market.lotSize)} ${market.baseAsset}.`;
  }
  return null;
}

function leverageFault({ leverage }: OpeningDraft): string | null {
  const value = readScaled(leverage.trim());
  if (value === null || value < ONE || value > LEVERAGE_MAX * ONE) {
    return `The leverage is a number from 1 to ${LEVERAGE_MAX}.`;
  }
  return value % (ONE / 100n) === 0n ? null : "The leverage has at most two digits after the point.";
}

function estimateOf(
  draft: OpeningDraft,
  { account, tickers }: OpeningFacts,
  { baseAsset, quoteAsset }: Market,
  lastPrice: bigint,
): OpeningEstimate | null {
  const marks = marksOf(account.valuationAsset, tickers);
  const [baseMark, quoteMark] = [marks.get(baseAsset), marks.get(quoteAsset)];
  if (baseMark === undefined || quoteMark === undefined) return null;
  const price = divideScaled(baseMark, quoteMark);
  const quantity = toScaled(draft.quantity.trim());
  const leverage = toScaled(draft.leverage.trim());
  const notional = multiplyScaledUp(quantity, price);
  const free = toScaled(account.balances.find(({ asset }) => asset === quoteAsset)?.available ?? "0");
  const own = requiredMargin(notional, leverage);
  // A short borrows the whole of what it sells.
  const paid = draft.side === "sell" ? 0n : own < free ? own : free;
  const [borrowedAsset, borrowed] =
    draft.side === "sell" ? [baseAsset, quantity] : [quoteAsset, notional - paid];
  const [bought, spent] = draft.side === "sell" ? [-quantity, -notional] : [quantity, notional];
  let after: Holdings = holdingsOf(account.balances);
  after = changed(after, baseAsset, { held: bought });
  after = changed(after, quoteAsset, { held: -spent });
  after = changed(after, borrowedAsset, { held: borrowed, owed: borrowed });
  const figures = figuresOf(after, marks);
  return {
    lastPrice,
    notional,
    required: requiredMargin(multiplyScaledUp(quantity, baseMark), leverage),
    paid,
    borrowedAsset,
    borrowed,
    level: figures && levelOf(figures),
    liquidationPrice: liquidationPrice(after, marks, baseAsset, quoteAsset),
  };
}

function limitsFault(draft: OpeningDraft, market: Market, { notional }: OpeningEstimate): string | null {
  const { quantityMin, quantityMax, notionalMin, notionalMax, baseAsset, quoteAsset } = market;
  const quantity = toScaled(draft.quantity.trim());
  if (quantityMin !== null && quantity < toScaled(quantityMin))
    return `The least quantity is ${formatDecimal(quantityMin)} ${baseAsset}.`;
  if (quantityMax !== null && quantity > toScaled(quantityMax))
    return `The largest quantity is ${formatDecimal(quantityMax)} ${baseAsset}.`;
  if (notionalMin !== null && notional < toScaled(notionalMin))
    return `A position is worth at least ${formatDecimal(notionalMin)} ${quoteAsset}.`;
  if (notionalMax !== null && notional > toScaled(notionalMax))
    return `A position is worth at most ${formatDecimal(notionalMax)} ${quoteAsset}.`;
  return null;
}

function marginFault({ required, level }: OpeningEstimate, account: MarginAccount): string | null {
  const available = availableMargin(account);
  const unit = account.valuationAsset;
  const show = (value: bigint) => `${formatDecimal(scaledText(value), 2)} ${unit}`;
  if (available === null) return "An asset of your account has no price yet, so it cannot be judged.";
  if (required > available) {
    return `It needs ${show(upToCents(required))} of margin, and ${show(availableCents(available))} is available. Lower the quantity, or move collateral in.`;
  }
  if (riskBandOf(level) === "liquidation" && level !== null) {
    return `The level would be ${percentOf(level)}, and the account would be liquidated at once.`;
  }
  return null;
}

const CENT = ONE / 100n;

/** Rounds needed margin up to a whole hundredth. */
function upToCents(value: bigint): bigint {
  return ((value + CENT - 1n) / CENT) * CENT;
}

function availableCents(value: bigint): bigint {
  return value <= 0n ? 0n : floorTo(value, CENT);
}

/** The quantity that `percent` of the available margin allows at the draft's leverage; null while it is not known. */
export function partOfMargin(draft: OpeningDraft, facts: OpeningFacts, percent: bigint): string | null {
  const { market, account, tickers } = facts;
  const available = availableMargin(account);
  const baseMark = market && marksOf(account.valuationAsset, tickers).get(market.baseAsset);
  if (!market || !baseMark || available === null || leverageFault(draft)) return null;
  if (available <= 0n) return "0";
  const value = (available * percent * toScaled(draft.leverage.trim())) / (100n * ONE);
  return scaledText(floorTo(divideScaled(value, baseMark), toScaled(market.lotSize)));
}
