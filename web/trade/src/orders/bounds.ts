/**
 * What the exchange compares the price and the quantity of an order with, and the bounds of a market that an order
 * breaks. Pure; all amounts are scaled numbers of lib/scaled.ts.
 */
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { percentOfBps } from "#lib/rates.ts";
import { ceilTo, floorTo, multiplyScaled, readScaled, scaledText, toScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import type { Draft, Facts } from "./draft.ts";

const BPS = 10_000n;

/** The scaled value of a text that may be missing; null without one. */
export const scaled = (text: string | null | undefined) => (text ? readScaled(text) : null);

/** Whether the exchange compares prices with the fair price, and not with the last one. */
export const isFairPriced = ({ priceReference }: Market) => priceReference === "fair_price";

/** What the exchange compares the price of an order with: the fair price where the market says so, else the last one. */
export const referenceOf = ({ market, lastPrice }: Facts) =>
  scaled(isFairPriced(market) ? market.referencePrice : lastPrice);

/** A scaled number as it is shown. */
export const short = (value: bigint) => formatDecimal(scaledText(value));

/** Why there is no price that a market order could be compared with. */
export const noReference = (market: Market) =>
  isFairPriced(market)
    ? t("There is no fair price yet: place a limit order.")
    : t("Nobody has traded here yet: place a limit order.");

/** The worst price of a market order: the reference price and the slippage. */
export function boundPrice(draft: Draft, facts: Facts): bigint | null {
  return withSlippage(draft, facts.market, referenceOf(facts));
}

/** A price with the draft's slippage on top of it, or below it for a seller: to the tick, never beyond the slippage. */
export function withSlippage(draft: Draft, { tickSize }: Market, price: bigint | null): bigint | null {
  const percent = percentOf(draft);
  if (price === null || percent === null) return null;
  const tick = toScaled(tickSize);
  const move = multiplyScaled(price, percent) / 100n;
  const bound = draft.side === "buy" ? floorTo(price + move, tick) : ceilTo(price - move, tick);
  return bound > tick ? bound : tick;
}

/** The slippage of a draft, or null where its field has none. */
function percentOf({ slippage }: Draft): bigint | null {
  const percent = readScaled(slippage.trim());
  return percent === null || percent <= 0n ? null : percent;
}

/** What the slippage of a draft lacks on the market, or null. */
export function slippageFault(draft: Draft, { symbol, slippageBpsMax: most }: Market): string | null {
  const percent = percentOf(draft);
  if (percent === null) return t("A percentage above zero, such as 1.");
  return most !== null && percent * 100n > toScaled(`${most}`)
    ? t("At most {percent} on {symbol}.", { percent: percentOfBps(most), symbol })
    : null;
}

/** Whether a limit is further from what it is compared with than the market allows. */
export function isBeyondBand(limit: bigint, reference: bigint, { deviationBpsMax: most }: Market) {
  if (most === null) return false;
  const distance = limit < reference ? reference - limit : limit - reference;
  return distance * BPS > reference * BigInt(most);
}

/** The bound and the reference price, if a limit price is further from that than the bound. */
function beyondBand(facts: Facts, limit: bigint) {
  const { market } = facts;
  const reference = referenceOf(facts);
  if (reference === null || !isBeyondBand(limit, reference, market)) return null;
  return { percent: percentOfBps(market.deviationBpsMax ?? 0), price: short(reference) };
}

/** Why a limit price is refused for its distance from the fair price, or null. */
export function bandFault(facts: Facts, limit: bigint): string | null {
  const beyond = isFairPriced(facts.market) ? beyondBand(facts, limit) : null;
  return beyond && t("The price is more than {percent} from the fair price, {price}.", beyond);
}

/** What is said of a limit price far from the last one. The exchange alone knows whether that trade is too old to count. */
export function bandWarnings(facts: Facts, limit: bigint): string[] {
  const beyond = isFairPriced(facts.market) ? null : beyondBand(facts, limit);
  return beyond
    ? [
        t(
          "The price is more than {percent} from the last price, {price}. The exchange refuses it, unless that trade is old.",
          beyond,
        ),
      ]
    : [];
}

/** Which bound of the market the order breaks at this price, or null. Where it has no limit, `limit` is the worst price. */
export function limitsFault(
  { market }: Facts,
  quantity: bigint,
  limit: bigint,
  notional = multiplyScaled(quantity, limit),
): string | null {
  const [base, quote] = [market.baseAsset, market.quoteAsset];
  const show = (value: bigint, asset: string) => `${short(value)} ${asset}`;
  const [least, most] = [scaled(market.quantityMin), scaled(market.quantityMax)];
  const [smallest, largest] = [scaled(market.notionalMin), scaled(market.notionalMax)];
  if (quantity <= 0n)
    return t("That is less than one step of {toScaled}.", { toScaled: show(toScaled(market.lotSize), base) });
  if (least !== null && quantity < least)
    return t("The least amount is {least}.", { least: show(least, base) });
  if (most !== null && quantity > most) return t("The largest amount is {most}.", { most: show(most, base) });
  const worst = multiplyScaled(quantity, limit);
  if (smallest !== null && (notional < smallest || worst < smallest))
    return t("An order is worth at least {smallest}.", { smallest: show(smallest, quote) });
  if (largest !== null && notional > largest)
    return t("An order is worth at most {largest}.", { largest: show(largest, quote) });
  return null;
}
