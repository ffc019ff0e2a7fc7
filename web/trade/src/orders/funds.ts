/** The amounts of the percent buttons. Loaded when the form gets the focus. Pure. */
import { isDecimal } from "#lib/decimal.ts";
import { divideScaled, floorTo, multiplyScaled, readScaled, scaledText, toScaled } from "#lib/scaled.ts";
import { hasLimit, isConditional } from "../api/orderKinds.ts";
import { boundPrice, referenceOf, scaled, withSlippage } from "./bounds.ts";
import { triggerPrice } from "./conditional.ts";
import type { Draft, Facts } from "./draft.ts";
import { holdingBps } from "./review.ts";

const BPS = 10_000n;

/** That part of the free funds, with room for the fee. Null if it cannot be known. */
export function partOfFunds(draft: Draft, facts: Facts, percent: bigint): string | null {
  const { market, available } = facts;
  if (available === null) return null;
  const lot = toScaled(market.lotSize);
  const limit = worstPrice(draft, facts);
  if (draft.side === "sell") {
    const quantity = floorTo(((scaled(available.base) ?? 0n) * percent) / 100n, lot);
    if (draft.unit === "base") return scaledText(quantity);
    const best = draft.type === "market" ? (facts.book?.bids[0]?.scaledPrice ?? null) : limit;
    return best === null
      ? null
      : scaledText(floorTo(multiplyScaled(quantity, best), toScaled(market.tickSize)));
  }
  const money = (((scaled(available.quote) ?? 0n) * percent) / 100n) * BPS;
  const spendable = money / (BPS + holdingBps(market));
  if (draft.unit === "quote") return scaledText(floorTo(spendable, toScaled(market.tickSize)));
  return limit === null || limit <= 0n ? null : scaledText(floorTo(divideScaled(spendable, limit), lot));
}

/** The price that decides how much the funds are enough for: that of the order of a list that needs more. */
function worstPrice(draft: Draft, facts: Facts): bigint | null {
  const { type, isOco } = draft;
  const last = scaled(facts.lastPrice);
  // A buyer's stop is above the limit that goes with it, and needs more.
  if (!isOco && hasLimit(type) && isDecimal(draft.price.trim())) return readScaled(draft.price.trim());
  if (type === "market") return boundPrice(draft, facts);
  if (isOco)
    return (
      readScaled(draft.stopLimit.trim()) ??
      withSlippage(draft, facts.market, readScaled(draft.stopPrice.trim()) ?? last)
    );
  if (!isConditional(type)) return last;
  return withSlippage(draft, facts.market, triggerPrice({ ...draft, type }, referenceOf(facts)) ?? last);
}
