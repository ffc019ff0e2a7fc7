/** Orders with all their types. The record of an order that waits for a price says so in fields that others lack. */
import type { Schemas } from "./client.ts";

export type Order = Schemas["OrderRecord"];
export type OrderType = Schemas["OrderType"];
export type ConditionalType = Exclude<OrderType, "limit" | "market">;
export type TimeInForce = Schemas["TimeInForce"];
/** The price that an order waits for: of the last trade, or the mark price. */
export type TriggerSource = Schemas["TriggerSource"];
export type SelfTradePrevention = Schemas["SelfTradePrevention"];

export const CONDITIONAL_TYPES: readonly ConditionalType[] = [
  "stop_market",
  "stop_limit",
  "take_profit_market",
  "take_profit_limit",
  "trailing_stop_market",
  "trailing_stop_limit",
];

export function isConditional(type: OrderType): type is ConditionalType {
  return type !== "limit" && type !== "market";
}

/** Whether a price is set by whoever places such an order. */
export function hasLimit(type: OrderType): boolean {
  return type.endsWith("limit");
}

/** Whether the order is not in the book, because its price has not come yet. */
export function isWaiting({ triggerStatus }: Pick<Order, "triggerStatus">): boolean {
  return triggerStatus === "waiting";
}

/** Whether what happens to the order's list happens to it: its amount is that of the list. */
export function isBound({ listState }: Pick<Order, "listState">): boolean {
  return listState === "planned" || listState === "active";
}

/** Whether the order waits for a price at or above its trigger; otherwise for one at or below it. */
export function firesAbove(type: ConditionalType, side: "buy" | "sell"): boolean {
  return type.startsWith("take_profit") ? side === "sell" : side === "buy";
}
