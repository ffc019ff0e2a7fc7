import { Amount } from "#lib/components/Amount.tsx";
import { cancelOrder, type ListedOrder } from "../people/trading.ts";
import { OrderStatus } from "./badges.tsx";
import { ReasonDialog } from "./ReasonDialog.tsx";

/** Cancel one order of a user at the REST edge, after a reason and the word CANCEL. */
export function CancelUserOrderDialog({ order, onClose }: { order: ListedOrder; onClose: () => void }) {
  const { orderId, userId, symbol, side, quantity, price, remainingQuantity, status } = order;
  return (
    <ReasonDialog
      title={`Cancel order ${orderId}?`}
      comparisons={[
        {
          name: "Status",
          before: <OrderStatus status={status} />,
          after: <OrderStatus status="cancelled" />,
        },
        { name: "Still to fill", before: <Amount value={remainingQuantity} />, after: <Amount value="0" /> },
      ]}
      typed="CANCEL"
      confirm="Cancel the order"
      dismiss="Keep it"
      danger
      act={(edge, reason, key) => cancelOrder(edge, orderId, reason, key)}
      done={() => [`Order ${orderId} is cancelled`, `${symbol} of ${userId}`]}
      onClose={onClose}
    >
      <p>
        {side === "buy" ? "Buys" : "Sells"} <Amount value={quantity} /> of {symbol}{" "}
        {price === null ? (
          "at the market's price"
        ) : (
          <>
            at <Amount value={price} />
          </>
        )}{" "}
        for {userId}. What was filled stays filled; the user hears of the cancel as of an own one.
      </p>
    </ReasonDialog>
  );
}
