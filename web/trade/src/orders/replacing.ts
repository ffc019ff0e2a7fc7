/** Changes of an order that only another order in its place can make: those of one that follows the price. Pure. */
import { t } from "#lib/language.ts";
import { scaledText, toScaled } from "#lib/scaled.ts";
import type { Schemas } from "../api/client.ts";
import { hasLimit, isBound, type Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { isAmendable, isFollowing, type Wanted, wantedOf } from "./amending.ts";
import { type Amendment, amendmentOf } from "./amendment.ts";
import { trailingBps, trailingFault } from "./conditional.ts";

export type ReplacementBody = Schemas["ReplacementBody"];

export interface OrderChange extends Amendment {
  /** What stands in the place of the order; null if it is amended, or not changed. */
  replacement: ReplacementBody | null;
}

/** Whether an order can be changed, itself or by another one in its place. */
export const isChangeable = (order: Order) => isAmendable(order) || (isFollowing(order) && !isBound(order));

/** Whether the distance that an order follows by is in percent. */
export const followsInPercent = ({ trailingBps: bps }: Order) => bps !== null && bps !== undefined;

/** What has to be asked for, for `order` to become as `wanted`. */
export function changeOf(order: Order, wanted: Wanted, market: Market): OrderChange {
  const amendment = amendmentOf(order, wanted, market);
  if (!isFollowing(order)) return { ...amendment, replacement: null };
  const trailing = wanted.trailing.trim();
  const unit = followsInPercent(order) ? "percent" : "quote";
  const fault =
    trailing === ""
      ? t("Enter how far it follows.")
      : trailingFault({ trailing, trailingUnit: unit }, market);
  if (fault !== null || Object.keys(amendment.faults).length > 0) {
    const faults = fault === null ? amendment.faults : { ...amendment.faults, trailing: fault };
    return { faults, body: null, keepsPlace: false, replacement: null };
  }
  const isMoved = toScaled(trailing) !== toScaled(wantedOf(order).trailing);
  const body = isMoved ? { ...amendment.body, trailing } : amendment.body;
  // Another quantity is an amendment: the order goes on from the best price that it has seen.
  const isReplaced = isMoved || body?.price !== undefined;
  return { ...amendment, body, replacement: isReplaced ? replacementOf(order, wanted) : null };
}

/** How far a replacement may go from the price that fires it, in percent; null where it has no bound of its own. */
export const slippageOf = ({ maxSlippageBps: bps }: ReplacementBody) =>
  bps === undefined || bps === null ? null : scaledText(toScaled(String(bps)) / 100n);

/** The order in the place of one that follows: the same, but for what is wanted of it. */
export function replacementOf(order: Order, wanted: Wanted): ReplacementBody {
  const { symbol, side, type, triggerBy, clientOrderId, selfTradePrevention, maxSlippageBps } = order;
  const trailing = wanted.trailing.trim();
  return {
    symbol,
    side,
    type,
    quantity: wanted.quantity.trim(),
    ...(triggerBy ? { triggerBy } : {}),
    ...(followsInPercent(order)
      ? { trailingBps: Number(trailingBps(trailing) ?? 0n) }
      : { trailingAmount: trailing }),
    ...(hasLimit(type) ? limitOf(order, wanted) : maxSlippageBps ? { maxSlippageBps } : {}),
    ...(clientOrderId === null ? {} : { clientOrderId }),
    ...(selfTradePrevention ? { selfTradePrevention } : {}),
    mode: "stop_on_failure",
  };
}

function limitOf({ timeInForce, expiresAt, postOnly, displayQuantity }: Order, wanted: Wanted) {
  return {
    price: wanted.price.trim(),
    timeInForce,
    ...(expiresAt ? { expiresAt } : {}),
    ...(postOnly ? { postOnly } : {}),
    ...(displayQuantity ? { displayQuantity } : {}),
  };
}
