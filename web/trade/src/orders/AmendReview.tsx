import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { isBound, isWaiting, type Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { isFar, type Wanted, wantedOf } from "./amending.ts";
import { listName } from "./listName.ts";
import { explainOrder } from "./refusals.ts";
import { followsInPercent, type OrderChange, slippageOf } from "./replacing.ts";
import { termsOf, triggerName } from "./trigger.ts";
import { triggerSentence } from "./triggerSentence.ts";

/** The last question before an order is changed: what it has, and what it shall have. */
export default function AmendReview({
  market,
  order,
  wanted,
  change,
  firesAt = null,
  lastPrice,
  isBusy,
  error,
  onConfirm,
  onClose,
}: {
  market: Market;
  order: Order;
  wanted: Wanted;
  /** What has to be asked for. */
  change: OrderChange;
  /** What would fire an order that follows the price now; null where that is not known. */
  firesAt?: string | null;
  lastPrice: string | null;
  isBusy: boolean;
  /** Why the exchange did not take it; null before it was asked. */
  error: Error | null;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { baseAsset, quoteAsset } = market;
  const { body, keepsPlace, faults, replacement } = change;
  const price = (text: string) => `${formatDecimal(text, placesOf(market.tickSize))} ${quoteAsset}`;
  const amount = (text: string) => `${formatDecimal(text)} ${baseAsset}`;
  const distance = (text: string) => `${formatDecimal(text)} ${followsInPercent(order) ? "%" : quoteAsset}`;
  const waits = isWaiting(order)
    ? termsOf(body?.stopPrice ? { ...order, stopPrice: body.stopPrice } : order)
    : null;
  const follows = { distance: distance(wanted.trailing.trim()), stopPrice: firesAt ?? "" };
  const terms = waits && replacement ? { ...waits, ...follows } : waits;
  const far = body?.price !== undefined && isFar(order, wanted.price, lastPrice);
  const slippage = replacement && slippageOf(replacement);
  const before = wantedOf(order);
  const fault = faults.price ?? faults.stopPrice ?? faults.trailing ?? faults.quantity;
  return (
    <ConfirmDialog
      title={
        order.side === "buy"
          ? t("Change the order to buy {symbol}?", { symbol: order.symbol })
          : t("Change the order to sell {symbol}?", { symbol: order.symbol })
      }
      operator=""
      typed={far ? order.symbol : ""}
      danger={far}
      confirm={t("Change the order")}
      dismiss={t("Leave it")}
      isBusy={isBusy}
      problem={error ? explainOrder(error) : null}
      missing={[body === null && t("close this: nothing of the order would change")]}
      comparisons={[
        ...(before.price === ""
          ? []
          : [{ name: t("Price"), before: price(before.price), after: price(wanted.price.trim()) }]),
        ...(before.stopPrice === ""
          ? []
          : [
              {
                name: triggerName(order.type),
                before: price(before.stopPrice),
                after: price(wanted.stopPrice.trim()),
              },
            ]),
        ...(before.trailing === ""
          ? []
          : [
              {
                name: t("Follows by"),
                before: distance(before.trailing),
                after: distance(wanted.trailing.trim()),
              },
            ]),
        ...(firesAt === null
          ? []
          : [
              {
                name: t("Fires at"),
                before: order.stopPrice ? price(order.stopPrice) : "–",
                after: price(firesAt),
              },
            ]),
        ...(before.quantity === ""
          ? []
          : [{ name: t("Amount"), before: amount(order.quantity), after: amount(wanted.quantity.trim()) }]),
      ]}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {fault && <p>{fault}</p>}
      {isBound(order) && <p>{listName(order)}</p>}
      {far && (
        <WarningNote>
          {order.side === "buy"
            ? t("The price is far above the last one, {price}. The order may trade at once.", {
                price: price(lastPrice ?? "0"),
              })
            : t("The price is far below the last one, {price}. The order may trade at once.", {
                price: price(lastPrice ?? "0"),
              })}
        </WarningNote>
      )}
      {replacement && (
        <p>
          {t("A new order takes its place, and follows the price from now on.")}{" "}
          {slippage !== null &&
            t("It matches at most {slippage} % from the price that fires it.", {
              slippage: formatDecimal(slippage),
            })}
        </p>
      )}
      {terms ? (
        <p>{triggerSentence(terms, quoteAsset)}</p>
      ) : (
        <p>
          {isBound(order) && order.listRole !== "entry"
            ? t(
                "The others of its list stay as they are. A price at which it would trade at once is refused.",
              )
            : keepsPlace
              ? t("It keeps its place among the orders of its price.")
              : t(
                  "It goes behind the orders that are at its price already. If the price meets the other side, it trades at once.",
                )}
        </p>
      )}
    </ConfirmDialog>
  );
}
