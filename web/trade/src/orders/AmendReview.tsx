import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { type Problem, WarningNote } from "#lib/components/states.tsx";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { isWaiting, type Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { amendmentOf, isFar, type Wanted } from "./amending.ts";
import { termsOf, triggerSentence } from "./trigger.ts";

/** The last question before an order is changed: what it has, and what it shall have. */
export default function AmendReview({
  market,
  order,
  wanted,
  lastPrice,
  isBusy,
  problem,
  onConfirm,
  onClose,
}: {
  market: Market;
  order: Order;
  wanted: Wanted;
  lastPrice: string | null;
  isBusy: boolean;
  problem: Problem | null;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { baseAsset, quoteAsset } = market;
  const { body, keepsPlace, faults } = amendmentOf(order, wanted, market);
  const price = (text: string) => `${formatDecimal(text, placesOf(market.tickSize))} ${quoteAsset}`;
  const amount = (text: string) => `${formatDecimal(text)} ${baseAsset}`;
  const terms = isWaiting(order) ? termsOf(order) : null;
  const far = body?.price !== undefined && isFar(order, wanted.price, lastPrice);
  const fault = faults.price ?? faults.quantity;
  return (
    <ConfirmDialog
      title={`Change the order to ${order.side} ${order.symbol}?`}
      operator=""
      typed={far ? order.symbol : ""}
      danger={far}
      confirm="Change the order"
      dismiss="Leave it"
      isBusy={isBusy}
      problem={problem}
      missing={[body === null && "close this: nothing of the order would change"]}
      comparisons={[
        { name: "Price", before: price(order.price ?? "0"), after: price(wanted.price.trim()) },
        { name: "Amount", before: amount(order.quantity), after: amount(wanted.quantity.trim()) },
      ]}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {fault && <p>{fault}</p>}
      {far && (
        <WarningNote>
          The price is far {order.side === "buy" ? "above" : "below"} the last one, {price(lastPrice ?? "0")}.
          The order may trade at once.
        </WarningNote>
      )}
      {terms ? (
        <p>{triggerSentence(terms, quoteAsset)}</p>
      ) : (
        <p>
          {keepsPlace
            ? "It keeps its place among the orders of its price."
            : "It goes behind the orders that are at its price already. If the price meets the other side, it trades at once."}
        </p>
      )}
    </ConfirmDialog>
  );
}
