/** Tells what became of orders. Loaded late: a first page needs none. */
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { isWaiting, type Order } from "../api/orderKinds.ts";
import { termsOf, waitsFor } from "./trigger.ts";

/** What became of an order, in a few words. */
function outcomeOf(order: Order): string {
  const done = formatDecimal(order.filledQuantity);
  const asked = formatDecimal(order.quantity);
  const [base = "", quote = ""] = order.symbol.split("-");
  const average = order.averagePrice
    ? " " +
      t("at {averagePrice} {quote} on average", { averagePrice: formatDecimal(order.averagePrice), quote })
    : "";
  const filled = { done, asked: `${asked} ${base}`, average };
  if (order.status === "filled") return `${done} ${base}${average}`;
  if (order.status === "partially_filled")
    return t("{done} of {asked}{average}; the rest is in the book", filled);
  if (order.status === "cancelled") return t("{done} of {asked}{average}; the rest is cancelled", filled);
  const terms = isWaiting(order) ? termsOf(order) : null;
  if (terms) return `${asked} ${base}, ${waitsFor(terms)}`;
  if (!order.price) return `${asked} ${base}`;
  return `${asked} ${base} ${t("at {price} {quote}", { price: formatDecimal(order.price), quote })}`;
}

const TITLES: Readonly<Record<string, string>> = {
  get filled() {
    return t("Filled");
  },
  get partially_filled() {
    return t("Partly filled");
  },
  get cancelled() {
    return t("Partly filled");
  },
  get open() {
    return t("Order placed");
  },
  get pending() {
    return t("Order sent");
  },
};

/** Tell what became of an order that was placed, or of all orders of a list. */
export function tellPlaced(orders: readonly Order[]): void {
  const [order] = orders;
  if (!order) return;
  const isNothing = order.status === "cancelled" && /^0(\.0+)?$/.test(order.filledQuantity);
  const word = order.side === "buy" ? t("Buy") : t("Sell");
  toastDone(
    `${word}: ${isNothing ? t("nothing filled, cancelled") : (TITLES[order.status] ?? order.status)}`,
    orders.map(outcomeOf).join("; "),
  );
}

/** Tell what a changed order is now, which stands before one that it has replaced. */
export function tellChanged(orders: readonly Order[]): void {
  const [order] = orders;
  if (order) toastDone(t("Order changed"), outcomeOf(order));
}
