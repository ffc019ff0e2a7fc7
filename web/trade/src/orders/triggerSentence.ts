/** What an order waits for, in a sentence. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { firesAbove } from "../api/orderKinds.ts";
import type { Terms } from "./trigger.ts";

/** For a review: "Buys when the last price is at or above 65,000 USD." */
export function triggerSentence(terms: Terms, quoteAsset: string): string {
  const { type, side, triggerBy, stopPrice, distance } = terms;
  const source = triggerBy === "mark" ? t("the mark price") : t("the last price");
  if (distance !== "") {
    const now =
      stopPrice === ""
        ? ""
        : t("; at present at {stopPrice} {quoteAsset}", { stopPrice: formatDecimal(stopPrice), quoteAsset });
    const words = { source, distance, now };
    return side === "buy"
      ? t("Buys when {source} has risen {distance} from its lowest since the order was placed{now}.", words)
      : t(
          "Sells when {source} has fallen {distance} from its highest since the order was placed{now}.",
          words,
        );
  }
  const words = { source, price: `${formatDecimal(stopPrice)} ${quoteAsset}` };
  if (side === "buy")
    return firesAbove(type, side)
      ? t("Buys when {source} is at or above {price}.", words)
      : t("Buys when {source} is at or below {price}.", words);
  return firesAbove(type, side)
    ? t("Sells when {source} is at or above {price}.", words)
    : t("Sells when {source} is at or below {price}.", words);
}
