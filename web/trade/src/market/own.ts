/** What a reader has in a market, as the chart marks it. */
import { formatCount } from "#lib/counts.ts";
import { several, t } from "#lib/language.ts";
import { hasLimit, isBound, isWaiting, type Order } from "../api/orderKinds.ts";
import type { Schemas } from "../api/client.ts";

export type Fill = Pick<Schemas["OwnTrade"], "side" | "quantity" | "executedAt">;

export type Trigger = Schemas["OrderTrigger"];

/** Another price for an order, which nobody has agreed to yet. */
export interface Proposal {
  order: Order;
  price: string;
}

/** A price that the chart marks with a line of its own, such as that of a liquidation. */
export interface Level {
  id: string;
  price: string;
  title: string;
  tone: "accent" | "positive" | "warning" | "negative";
  /** Whether it is always in sight, however far the candles are. */
  isFramed: boolean;
}

export interface Own {
  orders: readonly Order[];
  fills: readonly Fill[];
  /** What one unit of the base asset that is held has cost on average, or null if that is unknown. */
  averageCost: string | null;
  /** The prices that matter to the reader's margin positions. */
  levels: readonly Level[];
  /** A line stands here until the reader has decided. */
  proposal: Proposal | null;
  /** Asks whether an order shall have another price; null where orders cannot be changed. */
  onPropose: ((proposal: Proposal) => void) | null;
}

export const NOTHING: Own = {
  orders: [],
  fills: [],
  averageCost: null,
  levels: [],
  proposal: null,
  onPropose: null,
};

/** More lines than these make each drawing of the chart slow: the nearest to the price are drawn. */
export const LINES_MAX = 50;

/** How many open orders are lines of the chart, in words; null without any. */
export function lineWords(orders: readonly Order[]): string | null {
  const count = orders.filter(hasLine).length;
  if (count > LINES_MAX) {
    const values = { drawn: LINES_MAX, orders: formatCount(count) };
    return t("The {drawn} of your {orders} open orders nearest to the price as lines.", values);
  }
  return count === 0
    ? null
    : several(count, "Your {count} open order as lines.", "Your {count} open orders as lines.");
}

/** The price of an order's line: what it waits for, or else where it rests. An order at any price has none. */
export function linePrice(order: Order): string | null {
  return isWaiting(order) ? (order.stopPrice ?? null) : order.price;
}

/** Orders with what fires them now. Of those that follow the price the exchange says it apart from their records. */
export function withTriggers(orders: readonly Order[], triggers: readonly Trigger[]): readonly Order[] {
  if (triggers.length === 0) return orders;
  return orders.map((order) => {
    const found = isWaiting(order) && triggers.find(({ orderId }) => orderId === order.orderId);
    if (!found) return order;
    return { ...order, stopPrice: found.triggerPrice, price: order.price && found.limitPrice };
  });
}

export const hasLine = (order: Order) => linePrice(order) !== null;

/** What changes if the line of an order is drawn elsewhere: what it waits for, or else its limit. */
export function movedField(order: Order): "price" | "stopPrice" {
  return isWaiting(order) ? "stopPrice" : "price";
}

/** Whether the line of an order can be drawn elsewhere. That of one of a list that follows the price cannot. */
export function isMovable(order: Order): boolean {
  if (!isWaiting(order)) return hasLimit(order.type);
  return hasLine(order) && !(order.type.startsWith("trailing") && isBound(order));
}
