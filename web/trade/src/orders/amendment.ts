/** How an order is changed: the faults of the fields, and the request for it. Pure. */
import type { ReactNode } from "react";
import { compareDecimals, formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { readScaled, toScaled } from "#lib/scaled.ts";
import { RefusedError } from "../api/errors.ts";
import { fieldReason } from "../api/fieldReason.ts";
import { sayReason } from "../api/messages.ts";
import type { Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { type Wanted, wantedOf } from "./amending.ts";
import { amountFault, priceFault } from "./review.ts";

export type WantedFaults = Partial<Record<keyof Wanted, ReactNode>>;

export interface Amendment {
  faults: WantedFaults;
  /** What differs from the order; null if nothing does, or something is wrong. */
  body: Partial<Wanted> | null;
  /** Whether the order keeps its place among those of its price. */
  keepsPlace: boolean;
}

/** What has to be asked for, for `order` to become as `wanted`. */
export function amendmentOf(order: Order, wanted: Wanted, market: Market): Amendment {
  const [price, quantity, stopPrice] = [wanted.price.trim(), wanted.quantity.trim(), wanted.stopPrice.trim()];
  const faults: WantedFaults = {};
  const before = wantedOf(order);
  const ofPrice = before.price === "" ? null : price === "" ? t("Enter a price.") : priceFault(price, market);
  const ofStop =
    before.stopPrice === ""
      ? null
      : stopPrice === ""
        ? order.type.startsWith("take_profit")
          ? t("Enter a price.")
          : t("Enter a stop price.")
        : priceFault(stopPrice, market);
  const ofQuantity =
    before.quantity === ""
      ? null
      : quantity === ""
        ? t("Enter an amount.")
        : quantityFault(order, quantity, market);
  if (ofPrice) faults.price = ofPrice;
  if (ofQuantity) faults.quantity = ofQuantity;
  if (ofStop) faults.stopPrice = ofStop;
  if (ofPrice || ofQuantity || ofStop) return { faults, body: null, keepsPlace: false };
  const isMoved = before.price !== "" && toScaled(price) !== toScaled(before.price);
  const isResized = before.quantity !== "" && toScaled(quantity) !== toScaled(order.quantity);
  const isRearmed = before.stopPrice !== "" && toScaled(stopPrice) !== toScaled(before.stopPrice);
  const body = {
    ...(isMoved ? { price } : {}),
    ...(isResized ? { quantity } : {}),
    ...(isRearmed ? { stopPrice } : {}),
  };
  return {
    faults,
    body: Object.keys(body).length > 0 ? body : null,
    keepsPlace: !isMoved && isResized && toScaled(quantity) < toScaled(order.quantity),
  };
}

function quantityFault(order: Order, quantity: string, market: Market): string | null {
  const fault = amountFault({ amount: quantity, unit: "base" }, market);
  if (fault !== null || readScaled(quantity) === null) return fault;
  return compareDecimals(quantity, order.filledQuantity) > 0
    ? null
    : t("More than the {filledQuantity} that are filled already.", {
        filledQuantity: formatDecimal(order.filledQuantity),
      });
}

/** The fields of `order` that a refusal names, with its reasons. */
export function refusedFields(error: unknown, order: Order): WantedFaults {
  if (!(error instanceof RefusedError)) return {};
  const fires = error.code === "TRIGGER_WOULD_FIRE";
  // What does not go with an entry is the trigger of another order.
  const waits = wantedOf(order).stopPrice !== "";
  const price =
    fires && !waits
      ? t("An exit of its list would fire at once")
      : error.code === "LIST_EXIT_WOULD_FILL"
        ? t("An exit would trade at once")
        : fieldReason(error, "price");
  const quantity =
    error.code === "QUANTITY_BELOW_FILLED" ? sayReason(error).detail : fieldReason(error, "quantity");
  const stopPrice = fires && waits ? t("The price would fire it at once") : fieldReason(error, "stopPrice");
  return {
    ...(price ? { price } : {}),
    ...(quantity ? { quantity } : {}),
    ...(stopPrice ? { stopPrice } : {}),
  };
}
