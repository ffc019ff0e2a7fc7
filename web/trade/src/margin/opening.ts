/** Estimates what opening a position would do, and says why it is not possible. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import {
  divideScaled,
  floorTo,
  multiplyScaledUp,
  ONE,
  readScaled,
  scaledText,
  toScaled,
} from "#lib/scaled.ts";
import { decimalForm } from "#lib/decimalForm.ts";
import { withDecimalSign } from "#lib/separators.ts";
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
  maintenanceOf,
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
  /** What the loan costs a day, in the borrowed asset. */
  dailyInterest: bigint;
  /** The equity at which the account would be liquidated, with all that it owes then, in the valuation asset. */
  maintenance: bigint;
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
  if (account.status !== "active") return { ...nothing, blocked: t("Your account is being liquidated.") };
  if (!market) return { ...nothing, blocked: t("Choose a market.") };
  if (!market.active)
    return { ...nothing, blocked: t("{symbol} is closed for trading.", { symbol: market.symbol }) };
  const quantity = quantityFault(draft, market);
  const leverage = leverageFault(draft);
  if (quantity) faults.quantity = quantity;
  if (leverage) faults.leverage = leverage;
  if (Object.keys(faults).length > 0) return { ...nothing, blocked: t("Correct the marked field.") };
  const marks = marksOf(account);
  const traded = [market.baseAsset, market.quoteAsset];
  const unpriced = traded.find((asset) => !marks.has(asset));
  if (unpriced !== undefined) {
    return {
      ...nothing,
      blocked: t("{unpriced} has no fair price in {valuationAsset} yet.", {
        unpriced,
        valuationAsset: account.valuationAsset,
      }),
    };
  }
  const unsure = unsureOf(holdingsOf(account.balances), marks, traded);
  if (unsure !== null)
    return { ...nothing, blocked: t("Nothing can be opened: {unsure}.", { unsure }), isUnsure: true };
  if (draft.quantity.trim() === "") return { ...nothing, blocked: t("Enter a quantity.") };
  const estimate = estimateOf(draft, account, market, marks);
  if (estimate === null) return { ...nothing, blocked: notJudged() };
  const blocked = limitsFault(draft, market, estimate) ?? marginFault(estimate, account);
  const body = {
    symbol: market.symbol,
    side: draft.side,
    quantity: scaledText(toScaled(draft.quantity.trim())),
    leverage: draft.leverage.trim(),
  };
  return { faults, blocked, estimate, body, isUnsure: false };
}

const DAYS_OF_YEAR = 365n;

const notJudged = () => t("An asset of your account has no price yet, so it cannot be judged.");

function quantityFault({ quantity }: OpeningDraft, market: Market): string | null {
  const text = quantity.trim();
  if (text === "") return null;
  const value = readScaled(text);
  if (value === null)
    return t("A quantity is {decimalForm}, such as {value}.", {
      decimalForm: decimalForm(),
      value: withDecimalSign("0.25"),
    });
  if (value <= 0n) return t("A quantity is more than zero.");
  if (value % toScaled(market.lotSize) !== 0n) {
    return t("Quantities go in steps of {lotSize} {baseAsset}.", {
      lotSize: formatDecimal(market.lotSize),
      baseAsset: market.baseAsset,
    });
  }
  return null;
}

function leverageFault({ leverage }: OpeningDraft): string | null {
  const value = readScaled(leverage.trim());
  if (value === null || value < ONE || value > LEVERAGE_MAX * ONE) {
    return t("The leverage is a number from 1 to {leverageMax}.", { leverageMax: LEVERAGE_MAX });
  }
  return value % (ONE / 100n) === 0n ? null : t("The leverage has at most two digits after the point.");
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
    dailyInterest: multiplyScaledUp(borrowed, toScaled(account.borrowRate)) / DAYS_OF_YEAR,
    maintenance: maintenanceOf(figures),
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
    return t("The least quantity is {quantityMin} {baseAsset}.", {
      quantityMin: formatDecimal(quantityMin),
      baseAsset,
    });
  if (quantityMax !== null && quantity > toScaled(quantityMax))
    return t("The largest quantity is {quantityMax} {baseAsset}.", {
      quantityMax: formatDecimal(quantityMax),
      baseAsset,
    });
  if (notionalMin !== null && notional < toScaled(notionalMin))
    return t("A position is worth at least {notionalMin} {quoteAsset}.", {
      notionalMin: formatDecimal(notionalMin),
      quoteAsset,
    });
  if (notionalMax !== null && notional > toScaled(notionalMax))
    return t("A position is worth at most {notionalMax} {quoteAsset}.", {
      notionalMax: formatDecimal(notionalMax),
      quoteAsset,
    });
  return null;
}

function marginFault(estimate: OpeningEstimate, account: MarginAccount): string | null {
  const { required, level, borrowed, borrowedAsset, borrowable, isTooRisky } = estimate;
  const available = availableMargin(account);
  const unit = account.valuationAsset;
  const show = (value: bigint) => `${formatDecimal(scaledText(value), 2)} ${unit}`;
  if (available === null) return notJudged();
  if (required > available) {
    return t(
      "It needs {upToCents} of margin, and {availableCents} is available. Lower the quantity, or move collateral in.",
      { upToCents: show(upToCents(required)), availableCents: show(availableCents(available)) },
    );
  }
  if (borrowable !== null && borrowed > borrowable) {
    return t(
      "The market is too thin: {borrowable} {borrowedAsset} can be borrowed now. Lower the quantity.",
      { borrowable: formatDecimal(scaledText(borrowable)), borrowedAsset },
    );
  }
  if (!isTooRisky) return null;
  return riskBandOf(level) === "liquidation" && level !== null
    ? t("The level would be {percentOf}, and the account would be liquidated at once.", {
        percentOf: percentOf(level),
      })
    : t(
        "The market is too thin for a position of this size, or its price has just moved: it could not be sold again near the fair price of the day. Lower the quantity, or wait until several people have traded here.",
      );
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
