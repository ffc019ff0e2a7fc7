/** Orders with all their types. The record of an order that waits for a price says so in fields that others lack. */
import type { Schemas } from "./client.ts";

export const CONDITIONAL_TYPES = [
  "stop_market",
  "stop_limit",
  "take_profit_market",
  "take_profit_limit",
  "trailing_stop_market",
  "trailing_stop_limit",
] as const;
export type ConditionalType = (typeof CONDITIONAL_TYPES)[number];
export type OrderType = "limit" | "market" | ConditionalType;
export type TimeInForce = "gtc" | "ioc" | "fok" | "gtd";
/** The price that an order waits for: of the last trade, or the mark price. */
export type TriggerSource = "last" | "mark";

export type Order = Omit<Schemas["OrderRecord"], "type" | "timeInForce"> & {
  type: OrderType;
  timeInForce: TimeInForce;
  /** Of a trailing order the present one; null where it is not known. */
  stopPrice?: string | null;
  triggerBy?: TriggerSource | null;
  trailingAmount?: string | null;
  trailingBps?: number | string | null;
  triggerStatus?: "waiting" | "triggered" | null;
  triggeredAt?: string | null;
  expiresAt?: string | null;
};

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

/** Whether the order waits for a price at or above its trigger; otherwise for one at or below it. */
export function firesAbove(type: ConditionalType, side: "buy" | "sell"): boolean {
  return type.startsWith("take_profit") ? side === "sell" : side === "buy";
}
