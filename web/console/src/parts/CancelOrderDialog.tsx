import { useMutation } from "@tanstack/react-query";
import type { AdminOrder } from "#gen/exchange/v1/admin_pb.ts";
import { Amount } from "#lib/components/Amount.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { useEngine } from "../engine/engine.ts";
import { useMarketPlaces, useRefresh } from "../engine/queries.ts";
import { useOperator } from "../engine/session.ts";
import { explainIfAny } from "../engine/messages.ts";
import { OrderStatus } from "./badges.tsx";

/** Cancel somebody's order, after a reason and the word CANCEL. */
export function CancelOrderDialog({ order, onClose }: { order: AdminOrder; onClose: () => void }) {
  const engine = useEngine();
  const refresh = useRefresh();
  const places = useMarketPlaces()(order.symbol);
  const cancel = useMutation({
    mutationFn: (reason: string) =>
      engine.cancelOrder({
        orderId: order.orderId,
        participantId: order.participantId,
        symbol: order.symbol,
        reason,
      }),
    onSuccess: async () => {
      onClose();
      toastDone(`Order ${order.orderId} is cancelled`, `${order.symbol} of ${order.participantId}`);
      await refresh("orders", "balances", "risk", "stats");
    },
  });
  return (
    <ConfirmDialog
      title={`Force-cancel order ${order.orderId}?`}
      operator={useOperator()}
      comparisons={[
        {
          name: "Status",
          before: <OrderStatus status={order.status} />,
          after: <OrderStatus status="CANCELLED" />,
        },
        {
          name: "Quantity in the book",
          before: <Amount value={order.remainingQuantity} places={places.quantity} />,
          after: <Amount value="0" places={places.quantity} />,
        },
      ]}
      asksReason
      typed="CANCEL"
      confirm="Cancel the order"
      dismiss="Keep it"
      danger
      isBusy={cancel.isPending}
      problem={explainIfAny(cancel.error)}
      onConfirm={(reason) => cancel.mutate(reason)}
      onClose={onClose}
    >
      <p>
        {order.side === "BUY" ? "Buys" : "Sells"} <Amount value={order.quantity} places={places.quantity} />{" "}
        of {order.symbol} at <Amount value={order.price} places={places.price} /> for {order.participantId}.
        What was filled stays filled; the participant hears of the cancel as of its own.
      </p>
    </ConfirmDialog>
  );
}
