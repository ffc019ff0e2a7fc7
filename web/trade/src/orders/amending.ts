/** What a changed order shall have: the faults of its fields, and the request for it. Pure. */
import { compareDecimals } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { readScaled, toScaled } from "#lib/scaled.ts";
import { RefusedError } from "../api/errors.ts";
import { hasLimit, isWaiting, type Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { amountFault, priceFault, WORD_BPS } from "./review.ts";

/** Price and whole quantity, with what is filled already. */
export interface Wanted {
  price: string;
  quantity: string;
}

export type WantedFaults = Partial<Record<keyof Wanted, string>>;

export interface Amendment {
  faults: WantedFaults;
  /** What differs from the order; null if nothing does, or something is wrong. */
  body: Partial<Wanted> | null;
  /** Whether the order keeps its place among those of its price. */
  keepsPlace: boolean;
}

/** Whether the exchange can change an order: it has a limit, which does not follow anything. */
export function isAmendable(order: Order): boolean {
  return (
    hasLimit(order.type) && order.price !== null && !(order.type.startsWith("trailing") && isWaiting(order))
  );
}

/** What has to be asked for, for `order` to become as `wanted`. */
export function amendmentOf(order: Order, wanted: Wanted, market: Market): Amendment {
  const [price, quantity] = [wanted.price.trim(), wanted.quantity.trim()];
  const faults: WantedFaults = {};
  const ofPrice = price === "" ? t("Enter a price.") : priceFault(price, market);
  const ofQuantity = quantity === "" ? t("Enter an amount.") : quantityFault(order, quantity, market);
  if (ofPrice) faults.price = ofPrice;
  if (ofQuantity) faults.quantity = ofQuantity;
  if (ofPrice || ofQuantity) return { faults, body: null, keepsPlace: false };
  const isMoved = toScaled(price) !== toScaled(order.price ?? "0");
  const isResized = toScaled(quantity) !== toScaled(order.quantity);
  return {
    faults,
    body: isMoved || isResized ? { ...(isMoved ? { price } : {}), ...(isResized ? { quantity } : {}) } : null,
    keepsPlace: !isMoved && toScaled(quantity) < toScaled(order.quantity),
  };
}

function quantityFault(order: Order, quantity: string, market: Market): string | null {
  const fault = amountFault({ amount: quantity, unit: "base" }, market);
  if (fault !== null || readScaled(quantity) === null) return fault;
  return compareDecimals(quantity, order.filledQuantity) > 0
    ? null
    : t("More than the {filledQuantity} that are filled already.", { filledQuantity: order.filledQuantity });
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

/** The fields that a refusal names, with its reasons. */
export function refusedFields(error: unknown): WantedFaults {
  if (!(error instanceof RefusedError)) return {};
  const price = error.reasonFor("price");
  const quantity = error.code === "QUANTITY_BELOW_FILLED" ? error.message : error.reasonFor("quantity");
  return { ...(price ? { price } : {}), ...(quantity ? { quantity } : {}) };
}
