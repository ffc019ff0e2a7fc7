/** Cancelling orders. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { toastDone, toastProblem } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { several, t } from "#lib/language.ts";
import { returned, useExchange } from "../api/client.ts";
import { RefusedError } from "../api/errors.ts";
import { BALANCES, noteOrder } from "../api/live.ts";
import { sayReason } from "../api/messages.ts";
import type { Order } from "../api/orderKinds.ts";
import { tellRefused } from "./changing.ts";

/** Cancels an order. Without `onDone` nothing on the screen shows a refusal, so it is told. */
export function useCancelOrder(onDone?: () => void) {
  const { rest } = useExchange();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (order: Order) =>
      returned(rest.DELETE("/api/v1/orders/{orderId}", { params: { path: { orderId: order.orderId } } })),
    onSuccess: (order) => {
      noteOrder(client, order);
      // The others of its list may have ended with it.
      if (order.listId !== undefined) void client.invalidateQueries({ queryKey: ["orders"] });
      void client.invalidateQueries({ queryKey: BALANCES });
      toastDone(
        t("Order cancelled"),
        t("{symbol}, {quantity} at {price}", {
          symbol: order.symbol,
          quantity: formatDecimal(order.quantity),
          price: order.price === null ? t("market|price") : formatDecimal(order.price),
        }),
      );
      onDone?.();
    },
    onError: (error) => {
      if (!onDone) tellRefused(error);
      void client.invalidateQueries({ queryKey: ["orders"] });
    },
  });
}

/** Cancels all open orders, or those of one market. */
export function useCancelAll(onDone: () => void) {
  const { rest } = useExchange();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (symbol: string | undefined) =>
      returned(rest.DELETE("/api/v1/orders", { params: { query: symbol ? { symbol } : {} } })),
    onSuccess: ({ cancelled, failed }) => {
      void client.invalidateQueries({ queryKey: ["orders"] });
      void client.invalidateQueries({ queryKey: BALANCES });
      if (failed.length === 0)
        toastDone(several(cancelled.length, "{count} order cancelled", "{count} orders cancelled"));
      else {
        const message = [...new Set(failed.map(({ reason }) => reason))];
        toastProblem({
          title: several(
            failed.length,
            "{count} order could not be cancelled",
            "{count} orders could not be cancelled",
          ),
          ...sayReason(new RefusedError(409, { message }, null)),
          advice: t("Try them one by one."),
        });
      }
      onDone();
    },
  });
}
