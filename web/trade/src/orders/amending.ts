/** What a changed order shall have: the faults of its fields, and the request for it. Pure. */
import { compareDecimals } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { ONE, readScaled, scaledText, toScaled } from "#lib/scaled.ts";
import { RefusedError } from "../api/errors.ts";
import { hasLimit, isBound, isWaiting, type Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { amountFault, priceFault, WORD_BPS } from "./review.ts";

/** Price and whole quantity, with what is filled already, and what it waits for; empty where the order has none. */
export interface Wanted {
  price: string;
  quantity: string;
  stopPrice: string;
  /** How far it follows: money, or percent. */
  trailing: string;
}

export type WantedFaults = Partial<Record<keyof Wanted, string>>;

export interface Amendment {
  faults: WantedFaults;
  /** What differs from the order; null if nothing does, or something is wrong. */
  body: Partial<Wanted> | null;
  /** Whether the order keeps its place among those of its price. */
  keepsPlace: boolean;
}

/** Whether an order waits for a price that its owner has set, and can set anew. */
export function hasStopPrice({ type, stopPrice, ...order }: Order): boolean {
  return isWaiting(order) && !type.startsWith("trailing") && typeof stopPrice === "string";
}

const hasPrice = ({ type, price }: Order) => hasLimit(type) && price !== null;

/** Whether the exchange can change an order: it has a price or a trigger that follows nothing, and is bound to no other. */
export function isAmendable(order: Order): boolean {
  if (isBound(order) || isFollowing(order)) return false;
  return hasPrice(order) || hasStopPrice(order);
}

/** Whether an order waits at a distance from the best price. */
export const isFollowing = (order: Order) => order.type.startsWith("trailing") && isWaiting(order);

/** What an order has now, to be changed. */
export const wantedOf = (order: Order): Wanted => ({
  price: hasPrice(order) ? (order.price ?? "") : "",
  quantity: order.quantity,
  stopPrice: hasStopPrice(order) ? (order.stopPrice ?? "") : "",
  trailing: isFollowing(order) ? distanceOf(order) : "",
});

function distanceOf({ trailingBps, trailingAmount }: Order): string {
  if (trailingBps === null || trailingBps === undefined) return trailingAmount ?? "";
  return scaledText((BigInt(trailingBps) * ONE) / 100n);
}

/** What has to be asked for, for `order` to become as `wanted`. */
export function amendmentOf(order: Order, wanted: Wanted, market: Market): Amendment {
  const [price, quantity, stopPrice] = [wanted.price.trim(), wanted.quantity.trim(), wanted.stopPrice.trim()];
  const faults: WantedFaults = {};
  const before = wantedOf(order);
  const ofPrice = before.price === "" ? null : price === "" ? t("Enter a price.") : priceFault(price, market);
  const ofStop =
    before.stopPrice === ""
      ? null
      : stopPrice === ""
        ? order.type.startsWith("take_profit")
          ? t("Enter a price.")
          : t("Enter a stop price.")
        : priceFault(stopPrice, market);
  const ofQuantity = quantity === "" ? t("Enter an amount.") : quantityFault(order, quantity, market);
  if (ofPrice) faults.price = ofPrice;
  if (ofQuantity) faults.quantity = ofQuantity;
  if (ofStop) faults.stopPrice = ofStop;
  if (ofPrice || ofQuantity || ofStop) return { faults, body: null, keepsPlace: false };
  const isMoved = before.price !== "" && toScaled(price) !== toScaled(before.price);
  const isResized = toScaled(quantity) !== toScaled(order.quantity);
  const isRearmed = before.stopPrice !== "" && toScaled(stopPrice) !== toScaled(before.stopPrice);
  const body = {
    ...(isMoved ? { price } : {}),
    ...(isResized ? { quantity } : {}),
    ...(isRearmed ? { stopPrice } : {}),
  };
  return {
    faults,
    body: Object.keys(body).length > 0 ? body : null,
    keepsPlace: !isMoved && toScaled(quantity) < toScaled(order.quantity),
  };
}

function quantityFault(order: Order, quantity: string, market: Market): string | null {
  const fault = amountFault({ amount: quantity, unit: "base" }, market);
  if (fault !== null || readScaled(quantity) === null) return fault;
  return compareDecimals(quantity, order.filledQuantity) > 0
    ? null
    : t("More than the {filledQuantity} that are filled already.", { filledQuantity: order.filledQuantity });
}

/**
 * Whether a price would trade far from the market, so that a word is asked for: as far beyond the last price as a new
 * order may go without one. An order that waits trades later, by other prices.
 */
export function isFar(order: Order, price: string, lastPrice: string | null): boolean {
  const [wanted, last] = [readScaled(price.trim()), lastPrice === null ? null : readScaled(lastPrice)];
  if (wanted === null || last === null || last <= 0n || isWaiting(order)) return false;
  const beyond = order.side === "buy" ? wanted - last : last - wanted;
  return (beyond * 10_000n) / last >= WORD_BPS;
}

/** The fields that a refusal names, with its reasons. */
export function refusedFields(error: unknown): WantedFaults {
  if (!(error instanceof RefusedError)) return {};
  const price = error.reasonFor("price");
  const quantity = error.code === "QUANTITY_BELOW_FILLED" ? error.message : error.reasonFor("quantity");
  const stopPrice =
    error.code === "TRIGGER_WOULD_FIRE" ? t("The price would fire it at once") : error.reasonFor("stopPrice");
  return {
    ...(price ? { price } : {}),
    ...(quantity ? { quantity } : {}),
    ...(stopPrice ? { stopPrice } : {}),
  };
}
