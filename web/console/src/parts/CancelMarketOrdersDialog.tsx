import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { plural } from "#lib/counts.ts";
import { explainIfAny } from "../engine/messages.ts";
import { REASON_LENGTH_MIN, useOpenOrders, useOrdersCancellation } from "../operator/listings.ts";
import { useActingName } from "../operator/session.ts";

interface Props {
  market: { symbol: string };
  onClose: () => void;
}

/** Cancel the open orders of everybody on a market, after the count of a dry run. */
export function CancelMarketOrdersDialog({ market: { symbol }, onClose }: Props) {
  const counted = useOpenOrders(symbol);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const count = counted.data?.openOrders;
  const cancellation = useOrdersCancellation(symbol, key, ({ cancelled, openOrders }) => {
    if (openOrders > 0) {
      toastDone(`${plural(cancelled, "order")} cancelled`, `${plural(openOrders, "order")} open: go on.`);
      setKey(crypto.randomUUID());
      return;
    }
    onClose();
    toastDone(`${plural(cancelled, "order")} of ${symbol} cancelled`);
  });
  return (
    <ConfirmDialog
      title={`Cancel all orders of ${symbol}?`}
      operator={useActingName()}
      comparisons={count === undefined ? [] : [{ name: "Open orders", before: count, after: 0 }]}
      missing={[count === undefined && "wait for the count", count === 0 && "close this: no order is open"]}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      typed={symbol}
      confirm="Cancel the orders"
      dismiss="Keep them"
      danger
      isBusy={cancellation.isPending}
      problem={explainIfAny(cancellation.error ?? counted.error)}
      onConfirm={(reason) => {
        if (count !== undefined) cancellation.mutate({ confirmedOrders: count, reason });
      }}
      onClose={onClose}
    >
      <p>
        The open orders of everybody end, those that wait for a trigger included. New ones still come in:
        change the phase first if none shall. If many more are open by now, nothing is cancelled, and they are
        counted again.
      </p>
    </ConfirmDialog>
  );
}
