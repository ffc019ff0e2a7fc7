/** What an order that waits for a price would do, as orders/review.ts says it of the others. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { divideScaled, floorTo, multiplyScaled, ONE, readScaled, scaledText, toScaled } from "#lib/scaled.ts";
import { type ConditionalType, firesAbove, hasLimit } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import {
  isBeyondBand,
  isFairPriced,
  limitsFault,
  noReference,
  referenceOf,
  scaled,
  withSlippage,
} from "./bounds.ts";
import type { Draft, Estimate, Facts, OrderBody, Review } from "./draft.ts";
import {
  commonFaults,
  fundsFault,
  lacking,
  limitTerms,
  priceFault,
  sharedBody,
  slippageText,
  unready,
  withFee,
} from "./review.ts";
import { percentOfBps, type Terms } from "./trigger.ts";

export type ConditionalDraft = Draft & { type: ConditionalType };

const BPS = 10_000n;
const BPS_MAX = 9_999n;

export const isTrailing = (type: ConditionalType) => type.startsWith("trailing");

/** The basis points of a percentage of the form, or null where it has none between 0.01 % and 99.99 %. */
export function trailingBps(text: string): bigint | null {
  const percent = readScaled(text.trim());
  if (percent === null || (percent * 100n) % ONE !== 0n) return null;
  const bps = (percent * 100n) / ONE;
  return bps >= 1n && bps <= BPS_MAX ? bps : null;
}

/** Why an order cannot follow by that much; null also while nothing is entered. */
export function trailingFault(
  { trailing, trailingUnit }: Pick<Draft, "trailing" | "trailingUnit">,
  market: Market,
): string | null {
  if (trailing.trim() === "") return null;
  if (trailingUnit === "quote") return priceFault(trailing, market);
  return trailingBps(trailing) === null ? t("From 0.01 % to 99.99 %, in steps of 0.01 %.") : null;
}

function stopFault(draft: ConditionalDraft, facts: Facts): string | null {
  const fault = priceFault(draft.stopPrice, facts.market);
  if (fault !== null || draft.stopPrice.trim() === "") return fault;
  // What the mark price is, the page does not know.
  const last = draft.triggerBy === "last" && facts.lastPrice !== null ? readScaled(facts.lastPrice) : null;
  const stop = toScaled(draft.stopPrice.trim());
  const isAbove = firesAbove(draft.type, draft.side);
  if (last === null || (isAbove ? last < stop : last > stop)) return null;
  const price = formatDecimal(scaledText(last));
  return isAbove
    ? t("It would fire at once: the last price is {price}. Enter a price above it.", { price })
    : t("It would fire at once: the last price is {price}. Enter a price below it.", { price });
}

/** The price that fires the order if it follows `followed` from now on; null where it is not known. */
export function triggerPrice(draft: ConditionalDraft, followed: bigint | null): bigint | null {
  if (!isTrailing(draft.type)) return readScaled(draft.stopPrice.trim());
  if (followed === null) return null;
  const distance =
    draft.trailingUnit === "quote"
      ? readScaled(draft.trailing.trim())
      : (followed * (trailingBps(draft.trailing) ?? 0n)) / BPS;
  if (distance === null) return null;
  return draft.side === "buy" ? followed + distance : followed - distance;
}

/** The trigger of a draft, for its sentence. */
export function draftTerms(draft: ConditionalDraft, facts: Facts): Terms {
  const { type, side, triggerBy, trailing, trailingUnit } = draft;
  if (!isTrailing(type)) return { type, side, triggerBy, stopPrice: draft.stopPrice.trim(), distance: "" };
  const bps = trailingBps(trailing);
  const present = triggerBy === "last" ? triggerPrice(draft, scaled(facts.lastPrice)) : null;
  return {
    type,
    side,
    triggerBy,
    stopPrice: present === null ? "" : scaledText(floorTo(present, toScaled(facts.market.tickSize))),
    distance:
      trailingUnit === "quote"
        ? `${formatDecimal(trailing.trim())} ${facts.market.quoteAsset}`
        : bps === null
          ? ""
          : percentOfBps(bps),
  };
}

/** Everything about the draft of an order that waits for a price. */
export function reviewConditional(draft: ConditionalDraft, facts: Facts): Review {
  const { market } = facts;
  const faults = commonFaults(draft, market);
  const stop = isTrailing(draft.type) ? null : stopFault(draft, facts);
  const trailing = isTrailing(draft.type) ? trailingFault(draft, market) : null;
  if (stop) faults.stopPrice = stop;
  if (trailing) faults.trailing = trailing;
  const lack = lacking(draft, market, faults) ?? lackingTrigger(draft);
  if (lack !== null) return unready(lack, faults);
  // The exchange reckons what an order that follows holds from the reference price, whatever it follows.
  const trigger = triggerPrice(draft, referenceOf(facts));
  if (trigger === null && isFairPriced(market)) return unready(noReference(market));
  if (trigger === null || trigger <= 0n) {
    return unready(t("Nobody has traded here yet, so there is no price to follow: place a limit order."));
  }
  const limit = hasLimit(draft.type) ? readScaled(draft.price.trim()) : withSlippage(draft, market, trigger);
  if (limit === null || limit <= 0n) return unready(t("Enter a price."));
  const estimate = estimateOf(draft, facts, limit);
  return {
    faults: {},
    blocked:
      limitsFault(
        facts,
        estimate.quantity,
        limit,
        multiplyScaled(estimate.quantity, hasLimit(draft.type) ? limit : trigger),
      ) ??
      (hasLimit(draft.type) ? triggerBandFault(draft.type, market, trigger, limit) : null) ??
      fundsFault(draft, facts, estimate),
    warnings: hasLimit(draft.type) ? limitWarnings(draft.side, trigger, limit) : [],
    estimate,
    needsWord: false,
    body: bodyOf(draft, facts, estimate),
  };
}

/** Why a limit is refused for its distance from the trigger, or null. */
export function triggerBandFault(
  type: ConditionalType,
  market: Market,
  trigger: bigint,
  limit: bigint,
): string | null {
  // A last trade may be too old for the exchange to compare anything with it.
  const isKnown = !isTrailing(type) || isFairPriced(market);
  if (!isKnown || !isBeyondBand(limit, trigger, market)) return null;
  return t("The limit is more than {percent} from the price that fires the order, {price}.", {
    percent: percentOfBps(BigInt(market.deviationBpsMax ?? 0)),
    price: formatDecimal(scaledText(floorTo(trigger, toScaled(market.tickSize)))),
  });
}

function lackingTrigger(draft: ConditionalDraft): string | null {
  if (isTrailing(draft.type)) return draft.trailing.trim() === "" ? t("Enter how far it follows.") : null;
  if (draft.stopPrice.trim() !== "") return null;
  return draft.type.startsWith("take_profit") ? t("Enter a price.") : t("Enter a stop price.");
}

function estimateOf(draft: ConditionalDraft, { market }: Facts, limit: bigint): Estimate {
  const amount = readScaled(draft.amount.trim()) ?? 0n;
  const quantity =
    draft.unit === "base" ? amount : floorTo(divideScaled(amount, limit), toScaled(market.lotSize));
  const subtotal = multiplyScaled(quantity, limit);
  const fee = (subtotal * BigInt(market.takerFee)) / BPS;
  const held = draft.side === "buy" ? withFee(subtotal, market) : quantity;
  return {
    quantity,
    averagePrice: limit,
    filledNow: 0n,
    subtotal,
    fee,
    total: draft.side === "buy" ? subtotal + fee : subtotal - fee,
    held,
    heldFee: draft.side === "buy" ? held - subtotal : 0n,
    slippageBps: 0n,
    isThin: false,
    isShort: false,
  };
}

/** A limit on the wrong side of its trigger rests in the book instead of trading when it fires. */
export function limitWarnings(side: Draft["side"], trigger: bigint, limit: bigint): string[] {
  const isBuy = side === "buy";
  if (isBuy ? limit >= trigger : limit <= trigger) return [];
  return [
    isBuy
      ? t("The limit is below the trigger: when it fires, the order may rest in the book unfilled.")
      : t("The limit is above the trigger: when it fires, the order may rest in the book unfilled."),
  ];
}

function bodyOf(draft: ConditionalDraft, { market }: Facts, estimate: Estimate): OrderBody {
  const body: OrderBody = {
    ...sharedBody(draft, market),
    quantity: scaledText(estimate.quantity),
    triggerBy: draft.triggerBy,
    ...(hasLimit(draft.type) ? limitTerms(draft) : { maxSlippageBps: slippageText(draft) }),
  };
  if (!isTrailing(draft.type)) return { ...body, stopPrice: draft.stopPrice.trim() };
  const bps = trailingBps(draft.trailing);
  return draft.trailingUnit === "quote" || bps === null
    ? { ...body, trailingAmount: draft.trailing.trim() }
    : { ...body, trailingBps: Number(bps) };
}
