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
import { decimalForm, withDecimalSign } from "#lib/separators.ts";
import type { Schemas } from "../api/client.ts";
import type { Market } from "../api/queries.ts";
import {
  availableMargin,
  changed,
  fairPriceOf,
  figuresOf,
  type Holdings,
  holdingsOf,
  LEVERAGE_MAX,
  levelOf,
  liquidationPrice,
  type Marks,
  marksOf,
  percentOf,
  requiredMargin,
  riskBandOf,
  securedFiguresOf,
  unsureOf,
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
}

export interface OpeningEstimate {
  /** The fair price in the quote asset. */
  price: bigint;
  /** Quantity × price in the quote asset. */
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
  /** Whether the account would be liquidated at once, counting what the markets can absorb. */
  isTooRisky: boolean;
  /** How much of the borrowed asset can be borrowed; null without a bound. */
  borrowable: bigint | null;
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
  /** Whether a price that is not sure blocks it. */
  isUnsure: boolean;
}

/** Checks a draft: its faults, the estimate, and the request to send. */
export function reviewOpening(draft: OpeningDraft, facts: OpeningFacts): OpeningReview {
  const { market, account } = facts;
  const faults: OpeningReview["faults"] = {};
  const nothing = { faults, estimate: null, body: null, isUnsure: false };
  if (account.status !== "active") return { ...nothing, blocked: "Your account is being liquidated." };
  if (!market) return { ...nothing, blocked: "Choose a market." };
  if (!market.active) return { ...nothing, blocked: `${market.symbol} is closed for trading.` };
  const quantity = quantityFault(draft, market);
  const leverage = leverageFault(draft);
  if (quantity) faults.quantity = quantity;
  if (leverage) faults.leverage = leverage;
  if (Object.keys(faults).length > 0) return { ...nothing, blocked: "Correct the marked field." };
  const marks = marksOf(account);
  const traded = [market.baseAsset, market.quoteAsset];
  const unpriced = traded.find((asset) => !marks.has(asset));
  if (unpriced !== undefined) {
    return { ...nothing, blocked: `${unpriced} has no fair price in ${account.valuationAsset} yet.` };
  }
  const unsure = unsureOf(holdingsOf(account.balances), marks, traded);
  if (unsure !== null) return { ...nothing, blocked: `Nothing can be opened: ${unsure}.`, isUnsure: true };
  if (draft.quantity.trim() === "") return { ...nothing, blocked: "Enter a quantity." };
  const estimate = estimateOf(draft, account, market, marks);
  if (estimate === null) return { ...nothing, blocked: NOT_JUDGED };
  const blocked = limitsFault(draft, market, estimate) ?? marginFault(estimate, account);
  const body = {
    symbol: market.symbol,
    side: draft.side,
    quantity: scaledText(toScaled(draft.quantity.trim())),
    leverage: draft.leverage.trim(),
  };
  return { faults, blocked, estimate, body, isUnsure: false };
}

const NOT_JUDGED = "An asset of your account has no price yet, so it cannot be judged.";

function quantityFault({ quantity }: OpeningDraft, market: Market): string | null {
  const text = quantity.trim();
  if (text === "") return null;
  const value = readScaled(text);
  if (value === null) return `A quantity is ${decimalForm()}, such as ${withDecimalSign("0.25")}.`;
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
  account: MarginAccount,
  { baseAsset, quoteAsset }: Market,
  marks: Marks,
): OpeningEstimate | null {
  const price = fairPriceOf(`${baseAsset}-${quoteAsset}`, marks);
  const base = marks.get(baseAsset);
  if (price === null || base === undefined) return null;
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
  const [figures, secured] = [figuresOf(after, marks), securedFiguresOf(after, marks)];
  if (figures === null || secured === null) return null;
  return {
    price,
    notional,
    required: requiredMargin(multiplyScaledUp(quantity, base.high), leverage),
    paid,
    borrowedAsset,
    borrowed,
    level: levelOf(figures),
    liquidationPrice: liquidationPrice(after, marks, baseAsset, quoteAsset),
    isTooRisky: riskBandOf(levelOf(secured)) === "liquidation",
    borrowable: marks.get(borrowedAsset)?.borrowable ?? null,
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

function marginFault(estimate: OpeningEstimate, account: MarginAccount): string | null {
  const { required, level, borrowed, borrowedAsset, borrowable, isTooRisky } = estimate;
  const available = availableMargin(account);
  const unit = account.valuationAsset;
  const show = (value: bigint) => `${formatDecimal(scaledText(value), 2)} ${unit}`;
  if (available === null) return NOT_JUDGED;
  if (required > available) {
    return `It needs ${show(upToCents(required))} of margin, and ${show(availableCents(available))} is available. Lower the quantity, or move collateral in.`;
  }
  if (borrowable !== null && borrowed > borrowable) {
    return `The market is too thin: ${formatDecimal(scaledText(borrowable))} ${borrowedAsset} can be borrowed now. Lower the quantity.`;
  }
  if (!isTooRisky) return null;
  return riskBandOf(level) === "liquidation" && level !== null
    ? `The level would be ${percentOf(level)}, and the account would be liquidated at once.`
    : "The market is too thin for a position of this size, or its price has just moved: it could not be sold again near the fair price of the day. Lower the quantity, or wait until several people have traded here.";
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
  const { market, account } = facts;
  const available = availableMargin(account);
  const baseMark = market && marksOf(account).get(market.baseAsset)?.high;
  if (!market || !baseMark || available === null || leverageFault(draft)) return null;
  if (available <= 0n) return "0";
  const value = (available * percent * toScaled(draft.leverage.trim())) / (100n * ONE);
  return scaledText(floorTo(divideScaled(value, baseMark), toScaled(market.lotSize)));
}
