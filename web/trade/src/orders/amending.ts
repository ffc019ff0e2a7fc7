/** What of an order can be changed, and what a changed one shall have. Pure. */
import { ONE, readScaled, scaledText } from "#lib/scaled.ts";
import { hasLimit, isBound, isWaiting, type Order } from "../api/orderKinds.ts";
import { WORD_BPS } from "./review.ts";

/**
 * Price and whole quantity, with what is filled already, and what it waits for; empty where the order has none. An order
 * of a list has no quantity of its own.
 */
export interface Wanted {
  price: string;
  quantity: string;
  stopPrice: string;
  /** How far it follows: money, or percent. */
  trailing: string;
}

/** Whether an order waits for a price that its owner has set, and can set anew. */
export function hasStopPrice({ type, stopPrice, ...order }: Order): boolean {
  return isWaiting(order) && !type.startsWith("trailing") && typeof stopPrice === "string";
}

const hasPrice = ({ type, price }: Order) => hasLimit(type) && price !== null;

/** Whether the exchange can change an order: it has a price or a trigger that follows nothing. */
export function isAmendable(order: Order): boolean {
  return !isFollowing(order) && (hasPrice(order) || hasStopPrice(order));
}

/** Whether an order waits at a distance from the best price. */
export const isFollowing = (order: Order) => order.type.startsWith("trailing") && isWaiting(order);

/** What an order has now, to be changed. */
export const wantedOf = (order: Order): Wanted => ({
  price: hasPrice(order) ? (order.price ?? "") : "",
  quantity: isBound(order) ? "" : order.quantity,
  stopPrice: hasStopPrice(order) ? (order.stopPrice ?? "") : "",
  trailing: isFollowing(order) ? distanceOf(order) : "",
});

function distanceOf({ trailingBps, trailingAmount }: Order): string {
  if (trailingBps === null || trailingBps === undefined) return trailingAmount ?? "";
  return scaledText((BigInt(trailingBps) * ONE) / 100n);
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
