import { t } from "#lib/language.ts";
import { isWaiting, type Order } from "../api/orderKinds.ts";
import { termsOf, waitsFor } from "./trigger.ts";

/** What an order is called in the name of its menu. */
export function orderName(order: Order): string {
  const { side, quantity, symbol, price } = order;
  const terms = isWaiting(order) ? termsOf(order) : null;
  return `${side} ${quantity} ${symbol}${price ? " " + t("at {price}", { price }) : ""}${terms ? `, ${waitsFor(terms)}` : ""}`;
}
