/** Sending changes of orders. Loaded with what lists and changes them. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { toastDone, toastProblem } from "#lib/components/toasts.tsx";
import { t } from "#lib/language.ts";
import { attemptKey, returned, type Schemas, useExchange } from "../api/client.ts";
import { BALANCES, noteOrder } from "../api/live.ts";
import type { Order } from "../api/orderKinds.ts";
import { explain } from "../api/messages.ts";
import type { Wanted } from "./amending.ts";
import { loadOutcome } from "./placing.ts";

/** An order that shall have another price, another quantity, or both. */
export interface Change {
  order: Order;
  body: Partial<Wanted>;
  /** Another order in its place, where the order itself cannot get what it shall have. */
  replacement?: Schemas["ReplacementBody"] | null;
}

/**
 * Changes an open order. The request says what the order shall have, so a repetition changes nothing; and nothing is
 * placed in the place of an order that is not cancelled by the same request.
 */
export function useAmendOrder({
  onDone,
  onRefused = () => undefined,
}: {
  onDone: () => void;
  onRefused?: (error: unknown, change: Change) => void;
}) {
  const { rest } = useExchange();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ order: { orderId }, body, replacement }: Change) => {
      const header = { "Idempotency-Key": attemptKey() };
      const params = { path: { orderId }, header };
      if (!replacement) return [await returned(rest.PATCH("/api/v1/orders/{orderId}", { body, params }))];
      const { order, cancelled } = await returned(
        rest.POST("/api/v1/orders/{orderId}/replace", { body: replacement, params }),
      );
      return [order, ...(cancelled ? [cancelled] : [])];
    },
    onSuccess: (orders) => {
      for (const changed of orders) noteOrder(client, changed);
      void client.invalidateQueries({ queryKey: BALANCES });
      void loadOutcome().then(
        ({ tellChanged }) => tellChanged(orders),
        () => toastDone(t("Order changed")),
      );
      onDone();
    },
    onError: (error, change) => {
      void client.invalidateQueries({ queryKey: ["orders"] });
      onRefused(error, change);
    },
  });
}

/** Tell of a refusal that no dialog shows. */
export function tellRefused(error: unknown): void {
  void import("./refusals.ts").then(
    ({ explainOrder }) => toastProblem(explainOrder(error)),
    () => toastProblem(explain(error)),
  );
}
