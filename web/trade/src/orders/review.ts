/**
 * What an order of the form would do, before it is sent: the faults of its fields, what it would cost, and the reason
 * why it cannot be sent. Pure; all amounts are scaled numbers of lib/scaled.ts.
 */
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import {
  ceilTo,
  divideScaled,
  floorTo,
  multiplyScaled,
  readScaled,
  scaledText,
  toScaled,
} from "#lib/scaled.ts";
import { decimalForm } from "#lib/decimalForm.ts";
import { withDecimalSign } from "#lib/separators.ts";
import { hasLimit, type TimeInForce } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import type { Level } from "../stream/book.ts";
import {
  bandFault,
  bandWarnings,
  boundPrice,
  limitsFault,
  noReference,
  referenceOf,
  scaled,
  short,
  slippageFault,
} from "./bounds.ts";
import { type Draft, type Estimate, type Facts, isList, type OrderBody, type Review } from "./draft.ts";
import { postOnlyWarning } from "./postOnly.ts";

const BPS = 10_000n;
/** From here on a word is asked for; Kraken warns at the same distance. */
export const WORD_BPS = 300n;
const WARNED_BPS = 100n;

/** What would fill of `wanted` at the prices that are within, and for how much; with a budget, what that pays for. */
function walk(
  levels: readonly Level[],
  isWithin: (price: bigint) => boolean,
  wanted: bigint,
  budget?: { money: bigint; lot: bigint },
) {
  let quantity = 0n;
  let notional = 0n;
  for (const { scaledPrice, scaledQuantity } of levels) {
    if (!isWithin(scaledPrice)) break;
    const payable = budget
      ? floorTo(divideScaled(budget.money - notional, scaledPrice), budget.lot)
      : scaledQuantity;
    const left = wanted - quantity;
    const most = payable < left ? payable : left;
    const taken = scaledQuantity < most ? scaledQuantity : most;
    quantity += taken;
    notional += multiplyScaled(taken, scaledPrice);
    // What is not taken whole ends it, as in the engine.
    if (taken < scaledQuantity) break;
  }
  return { quantity, notional };
}

/** What a text lacks to be a price of the market, or null. An empty one lacks nothing yet. */
export function priceFault(text: string, market: Market): string | null {
  if (text.trim() === "") return null;
  const price = readScaled(text.trim());
  if (price === null)
    return t("A price is {decimalForm}, such as {value}.", {
      decimalForm: decimalForm(),
      value: withDecimalSign("101.5"),
    });
  if (price <= 0n) return t("A price is more than zero.");
  if (price % toScaled(market.tickSize) !== 0n) {
    return t("Prices go in steps of {tickSize} {quoteAsset}.", {
      tickSize: formatDecimal(market.tickSize),
      quoteAsset: market.quoteAsset,
    });
  }
  return null;
}

/** What a text lacks to be an amount in the draft's unit, or null. An empty one lacks nothing yet. */
export function amountFault({ amount: typed, unit }: Pick<Draft, "amount" | "unit">, market: Market) {
  const text = typed.trim();
  if (text === "") return null;
  const amount = readScaled(text);
  if (amount === null)
    return t("An amount is {decimalForm}, such as {value}.", {
      decimalForm: decimalForm(),
      value: withDecimalSign("0.25"),
    });
  if (amount <= 0n) return t("An amount is more than zero.");
  if (unit === "base" && amount % toScaled(market.lotSize) !== 0n) {
    return t("Amounts go in steps of {lotSize} {baseAsset}.", {
      lotSize: formatDecimal(market.lotSize),
      baseAsset: market.baseAsset,
    });
  }
  return null;
}

/** The faults that any order can have. */
export function commonFaults(draft: Draft, market: Market): Review["faults"] {
  const faults: Review["faults"] = {};
  const price = hasLimit(draft.type) ? priceFault(draft.price, market) : null;
  const amount = amountFault(draft, market);
  if (price) faults.price = price;
  if (amount) faults.amount = amount;
  const slippage = hasLimit(draft.type) ? null : slippageFault(draft, market);
  if (slippage) faults.slippage = slippage;
  return faults;
}

/** A review that finds a reason why the draft cannot be sent. */
export function unready(blocked: string, faults: Review["faults"] = {}): Review {
  return { faults, blocked, warnings: [], estimate: null, needsWord: false, body: null };
}

/** What a draft of any type lacks before its prices are looked at, or null. */
export function lacking(draft: Draft, market: Market, faults: Review["faults"]): string | null {
  if (!market.active) return t("{symbol} is closed for trading.", { symbol: market.symbol });
  if (Object.keys(faults).length > 0) return t("Correct the marked field.");
  if (hasLimit(draft.type) && draft.price.trim() === "") return t("Enter a price.");
  if (draft.amount.trim() === "") return t("Enter an amount.");
  if (hasLimit(draft.type) && draft.timeInForce === "gtd" && draft.expiresAt === "")
    return t("Choose until when the order is good.");
  return null;
}

/** Everything about the draft of a limit or a market order. */
export function review(draft: Draft, facts: Facts): Review {
  const { market } = facts;
  const faults = commonFaults(draft, market);
  const lack = lacking(draft, market, faults);
  if (lack !== null) return unready(lack, faults);
  const limit = draft.type === "limit" ? readScaled(draft.price.trim()) : boundPrice(draft, facts);
  if (limit === null || limit <= 0n) return unready(noReference(market));
  const estimate = estimateOf(draft, facts, limit);
  if (estimate === null) return unready(t("There is nobody to trade with: place a limit order."));
  const display = displayFault(draft, market, estimate.quantity);
  if (display !== null) return unready(t("Correct the marked field."), { display });
  const body = bodyOf(draft, facts, estimate);
  const blocked =
    boundsFault(draft, facts, estimate, limit) ??
    (draft.type === "limit" ? bandFault(facts, limit) : null) ??
    fundsFault(draft, facts, estimate);
  const distance = distanceBps(draft, facts, limit);
  const worst = estimate.slippageBps > distance ? estimate.slippageBps : distance;
  return {
    faults,
    blocked,
    warnings: [
      ...(draft.type === "limit" ? bandWarnings(facts, limit) : []),
      ...(isPostOnly(draft)
        ? postOnlyWarnings(draft, facts, limit)
        : warningsOf(draft, estimate, distance, market)),
    ],
    estimate,
    needsWord: worst >= WORD_BPS,
    body,
  };
}

/** Whether the engine finds the quantity that an amount of money buys, or is sold for. Orders of a list have one. */
const isSized = (draft: Draft, { rules }: Market) =>
  draft.type === "market" && draft.unit === "quote" && rules === "complete" && !isList(draft);

/** Whether a draft is sent with an amount of money. By the rules of the specification only a buy can be. */
export const isForMoney = (draft: Draft, market: Market) =>
  isSized(draft, market) || (draft.type === "market" && draft.side === "buy" && draft.unit === "quote");

/** Which bound of the market the draft of a limit or a market order breaks, or null. */
function boundsFault(draft: Draft, facts: Facts, { quantity }: Estimate, limit: bigint): string | null {
  const { market } = facts;
  if (draft.type === "limit") return limitsFault(facts, quantity, limit);
  const reference = referenceOf(facts) ?? limit;
  if (!isForMoney(draft, market))
    return limitsFault(facts, quantity, limit, multiplyScaled(quantity, reference));
  const money = readScaled(draft.amount.trim()) ?? 0n;
  // The router counts what the money is at worst, and the engine what it is.
  const least = floorTo(divideScaled(money, limit), toScaled(market.lotSize));
  return (
    limitsFault(facts, least, limit, money) ??
    leastFundsFault(draft, facts) ??
    (quantity > 0n ? null : nothingFault(draft))
  );
}

/** Why the book gives nothing for an amount of money. */
const nothingFault = ({ side }: Draft) =>
  side === "buy"
    ? t(
        "The book has nothing within your slippage that it pays for. Raise the amount or place a limit order.",
      )
    : t("The book has nothing within your slippage. Raise the amount or place a limit order.");

/** What is missing to sell the least that the market takes, or null: whoever has less is refused. */
function leastFundsFault({ side }: Draft, { market, available }: Facts): string | null {
  const least = scaled(market.quantityMin) ?? toScaled(market.lotSize);
  const free = scaled(available?.base) ?? 0n;
  if (side === "buy" || available === null || free >= least) return null;
  return t("Not enough {asset}: the order needs {ceilTo}{fee}, {free} is free.", {
    asset: market.baseAsset,
    ceilTo: short(least),
    fee: "",
    free: short(free),
  });
}

/** How much the book shows of an order; empty: all of it, as of every order that does not wait in it. */
const displayOf = ({ display, type, timeInForce }: Draft) =>
  type === "limit" && waits(timeInForce) ? display.trim() : "";

function displayFault(draft: Draft, market: Market, quantity: bigint): string | null {
  const text = displayOf(draft);
  if (text === "") return null;
  const fault = amountFault({ amount: text, unit: "base" }, market);
  if (fault !== null) return fault;
  const display = toScaled(text);
  return display < quantity && display * 100n >= quantity
    ? null
    : t("Less than the whole amount, and at least a hundredth of it.");
}

function estimateOf(draft: Draft, facts: Facts, limit: bigint): Estimate | null {
  const { market, book } = facts;
  const isBuy = draft.side === "buy";
  // What moves behind the best price takes nothing of the book.
  const levels = (slides(draft) ? [] : isBuy ? book?.asks : book?.bids) ?? [];
  const isWithin = (price: bigint) => (isBuy ? price <= limit : price >= limit);
  const amount = readScaled(draft.amount.trim()) ?? 0n;
  const lot = toScaled(market.lotSize);
  const best = levels[0]?.scaledPrice ?? null;
  // A market order may go as far as its bound, so its bound decides how much the money buys.
  const divisor = draft.type === "limit" || isBuy ? limit : (best ?? limit);
  const asked = draft.unit === "base" ? amount : floorTo(divideScaled(amount, divisor), lot);
  if (draft.type === "market" && best === null) return null;
  const sized = isSized(draft, market);
  const most = scaled(market.quantityMax) ?? 0n;
  // The engine sells no more than there is.
  const free = isBuy ? null : scaled(facts.available?.base);
  const sellable = free === null ? null : floorTo(free, lot);
  const now = sized
    ? walk(levels, isWithin, sellable !== null && sellable < most ? sellable : most, { money: amount, lot })
    : walk(levels, isWithin, asked);
  const quantity = sized ? now.quantity : asked;
  const resting = draft.type === "limit" && waits(draft.timeInForce) ? quantity - now.quantity : 0n;
  const subtotal = now.notional + multiplyScaled(resting, limit);
  const fee =
    (now.notional * BigInt(market.takerFee)) / BPS +
    (multiplyScaled(resting, limit) * BigInt(market.makerFee)) / BPS;
  const averagePrice = now.quantity > 0n ? divideScaled(now.notional, now.quantity) : limit;
  const slippageBps =
    best === null || now.quantity === 0n
      ? 0n
      : ((isBuy ? averagePrice - best : best - averagePrice) * BPS) / best;
  const notional = sized ? amount : multiplyScaled(quantity, limit);
  const held = isBuy ? withFee(notional, market) : quantity;
  // What is left of a budget is at least this much, were it in the book.
  const missing = sized
    ? floorTo(divideScaled(amount - now.notional, divisor), lot)
    : quantity - now.quantity;
  const isShort = sized && missing > 0n && now.quantity > 0n && now.quantity === sellable;
  return {
    quantity,
    averagePrice: floorTo(averagePrice, 10n ** 8n),
    filledNow: now.quantity,
    subtotal,
    fee,
    total: isBuy ? subtotal + fee : subtotal - fee,
    held,
    heldFee: isBuy ? held - notional : 0n,
    slippageBps,
    isThin: draft.type === "market" && missing > 0n && now.quantity !== sellable,
    isShort,
  };
}

/** Whether what does not fill at once waits in the book. */
export const waits = (timeInForce: TimeInForce) => timeInForce === "gtc" || timeInForce === "gtd";

/** How far a limit price reaches beyond the best price of the other side, in hundredths of a percent. */
function distanceBps(draft: Draft, facts: Facts, limit: bigint): bigint {
  if (draft.type === "market") return 0n;
  const best = (draft.side === "buy" ? facts.book?.asks : facts.book?.bids)?.[0]?.scaledPrice;
  if (best === undefined) return 0n;
  const beyond = draft.side === "buy" ? limit - best : best - limit;
  return beyond <= 0n ? 0n : (beyond * BPS) / best;
}

/** What a buyer's order holds: an amount of money with the highest fee on it, rounded up as in the engine. */
export const withFee = (money: bigint, market: Market) =>
  money + (money * holdingBps(market) + BPS - 1n) / BPS;

export const holdingBps = (market: Market) => BigInt(Math.max(market.takerFee, market.makerFee, 0));

/** What the free funds lack for the order, or null. */
export function fundsFault(draft: Draft, facts: Facts, estimate: Estimate): string | null {
  if (facts.available === null) return null;
  const { market } = facts;
  const isBuy = draft.side === "buy";
  const asset = isBuy ? market.quoteAsset : market.baseAsset;
  const free = scaled(isBuy ? facts.available.quote : facts.available.base) ?? 0n;
  const needed = estimate.held;
  if (needed <= free) return null;
  const fee = isBuy ? " " + t("with the fee") : "";
  return t("Not enough {asset}: the order needs {ceilTo}{fee}, {free} is free.", {
    asset,
    ceilTo: short(ceilTo(needed, 10n ** 10n)),
    fee,
    free: short(free),
  });
}

const isPostOnly = ({ type, postOnly }: Draft) => type === "limit" && postOnly;

/** Whether a draft is of an order that rests one tick behind where it would trade. An order of a list never does. */
export const slides = (draft: Draft) => isPostOnly(draft) && draft.postOnlyMode === "slide" && !isList(draft);

function postOnlyWarnings(draft: Draft, { market, book }: Facts, limit: bigint) {
  const mode = slides(draft) ? "slide" : "refuse";
  const warning = postOnlyWarning({ side: draft.side, limit, mode }, market, book);
  return warning === null ? [] : [warning];
}

function warningsOf(draft: Draft, estimate: Estimate, distance: bigint, market: Market): string[] {
  const found: string[] = [];
  const percent = (bps: bigint) =>
    `${formatDecimal(`${bps / 100n}.${(bps % 100n).toString().padStart(2, "0")}`)} %`;
  if (estimate.isShort) {
    found.push(
      t("The order sells all that you have, {quantity} {baseAsset}, and brings less than the amount.", {
        quantity: short(estimate.quantity),
        baseAsset: market.baseAsset,
      }),
    );
  }
  if (estimate.isThin) {
    found.push(
      t("The book has {filledNow} {baseAsset} within your slippage. The rest is cancelled.", {
        filledNow: short(estimate.filledNow),
        baseAsset: market.baseAsset,
      }),
    );
  }
  if (estimate.slippageBps >= WARNED_BPS) {
    found.push(
      t("The average price is {slippageBps} worse than the best one.", {
        slippageBps: percent(estimate.slippageBps),
      }),
    );
  } else if (distance >= WARNED_BPS) {
    const side = draft.side === "buy" ? t("above the best ask") : t("below the best bid");
    found.push(
      t("Your price is {distance} {side}. The order trades at once.", { distance: percent(distance), side }),
    );
  }
  return found;
}

/** The fields that a body of any type has. */
export function sharedBody(draft: Draft, market: Market) {
  const { side, type, selfTradePrevention } = draft;
  return {
    symbol: market.symbol,
    side,
    type,
    ...(selfTradePrevention === "" ? {} : { selfTradePrevention }),
  };
}

/** Limit, time in force and expiry of a body with a limit. */
export function limitTerms({ price, timeInForce, expiresAt }: Draft) {
  return { price: price.trim(), timeInForce, ...(timeInForce === "gtd" ? { expiresAt } : {}) };
}

export const slippageText = (draft: Draft) => scaledText((readScaled(draft.slippage.trim()) ?? 0n) * 100n);

function bodyOf(draft: Draft, facts: Facts, estimate: Estimate): OrderBody {
  const { market } = facts;
  const shared = sharedBody(draft, market);
  const quantity = scaledText(estimate.quantity);
  if (draft.type === "limit") {
    const displayQuantity = displayOf(draft);
    const body = {
      ...shared,
      ...limitTerms(draft),
      quantity,
      ...(displayQuantity === "" ? {} : { displayQuantity }),
    };
    if (!draft.postOnly) return body;
    return { ...body, postOnly: true, ...(slides(draft) ? { postOnlyMode: draft.postOnlyMode } : {}) };
  }
  const maxSlippageBps = slippageText(draft);
  if (isForMoney(draft, market)) return { ...shared, quoteQuantity: draft.amount.trim(), maxSlippageBps };
  const body = { ...shared, quantity, maxSlippageBps };
  return draft.timeInForce === "fok" ? { ...body, timeInForce: "fok" } : body;
}

/** A number of a field, moved by some steps, for the arrow keys; never below one step. */
export function stepped(text: string, step: string, by: bigint): string {
  const size = toScaled(step);
  const value = readScaled(text.trim() || "0") ?? 0n;
  const next = floorTo(value, size) + size * by;
  return scaledText(next < size ? size : next);
}
