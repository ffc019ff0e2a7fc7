/** What becomes of a post-only order whose price would trade at once. Pure; amounts are scaled numbers of lib/scaled.ts. */
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { scaledText, toScaled } from "#lib/scaled.ts";
import type { Schemas } from "../api/client.ts";
import type { Market } from "../api/queries.ts";
import type { Book } from "../stream/book.ts";

export type PostOnlyMode = Schemas["PostOnlyMode"];

interface PostOnlyOrder {
  side: "buy" | "sell";
  /** The price that is asked for. */
  limit: bigint;
  mode: PostOnlyMode;
}

/** What a reader is told before a post-only order is sent; null if it would simply rest. */
export function postOnlyWarning(
  { side, limit, mode }: PostOnlyOrder,
  market: Market,
  book: Book | null,
): string | null {
  const best = (side === "buy" ? book?.asks : book?.bids)?.[0]?.scaledPrice;
  if (best === undefined || (side === "buy" ? limit < best : limit > best)) return null;
  const tick = toScaled(market.tickSize);
  const moved = side === "buy" ? best - tick : best + tick;
  // Below the lowest ask that there can be is no price.
  if (mode === "refuse" || moved <= 0n)
    return t("At this price the order would trade at once. It is post-only, so the exchange will refuse it.");
  return t(
    "At this price the order would trade at once. It is post-only, so it will rest one tick behind the best price of the other side: now at {price} {quoteAsset}.",
    { price: formatDecimal(scaledText(moved)), quoteAsset: market.quoteAsset },
  );
}
