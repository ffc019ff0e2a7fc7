/** The types of orders in words. Pure. */
import { t, texts } from "#lib/language.ts";

/** The types of orders, as `typeName` spells them. */
texts([
  "Limit",
  "Market|order",
  "Stop market",
  "Stop limit",
  "Take profit market",
  "Take profit limit",
  "Trailing stop market",
  "Trailing stop limit",
]);

/** The name of a type of orders: "Stop limit". */
export function typeName(type: string): string {
  // The word for a market order is another one than the word for a market in some languages.
  if (type === "market") return t("Market|order");
  const words = type.replaceAll("_", " ");
  return t(words.charAt(0).toUpperCase() + words.slice(1));
}

/** The type of an order with its time in force, in the words of traders: "Limit, IOC", "Limit, post-only, GTD". */
export function kindOf(type: string, timeInForce: string, postOnly = false): string {
  const name = typeName(type);
  const kind = postOnly ? t("{name}, post-only", { name }) : name;
  return timeInForce === "gtc" ? kind : `${kind}, ${timeInForce.toUpperCase()}`;
}
