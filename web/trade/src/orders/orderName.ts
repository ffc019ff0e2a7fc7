import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { isWaiting, type Order } from "../api/orderKinds.ts";
import { termsOf, waitsFor } from "./trigger.ts";

/** What an order or a fill is called for what it does: "buy 2 BTC-USD". */
export function dealName({ side, quantity, symbol }: Pick<Order, "side" | "quantity" | "symbol">): string {
  const words = { quantity: formatDecimal(quantity), symbol };
  return side === "buy" ? t("buy {quantity} {symbol}", words) : t("sell {quantity} {symbol}", words);
}

/** What an order is called in the name of its menu. */
export function orderName(order: Order): string {
  const { price } = order;
  const limit = price ? ` ${t("at {price}", { price: formatDecimal(price) })}` : "";
  const terms = isWaiting(order) ? termsOf(order) : null;
  return `${dealName(order)}${limit}${terms ? `, ${waitsFor(terms)}` : ""}`;
}
