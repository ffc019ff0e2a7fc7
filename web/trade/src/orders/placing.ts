/** Sending orders and changes of orders. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { toastDone, toastProblem } from "#lib/components/toasts.tsx";
import { t } from "#lib/language.ts";
import { attempt, attemptsAt, useAttempt } from "../api/attempts.ts";
import { attemptKey, returned, type Schemas, useExchange } from "../api/client.ts";
import { isRefusal } from "../api/errors.ts";
import { BALANCES, noteOrder } from "../api/live.ts";
import type { Order } from "../api/orderKinds.ts";
import { explain } from "../api/messages.ts";
import type { Wanted } from "./amending.ts";
import type { ListBody, OrderBody } from "./draft.ts";

/** What tells the outcome. It is there before an order is sent: the connection may be gone by then. */
export const loadOutcome = () => import("./outcome.ts");

/** What `usePlaceOrder` sends. */
interface Wish {
  /** What the user asked for, which tells one order from another: orders/asked.ts. */
  asked: string;
  body: OrderBody | ListBody;
}

/**
 * Sends orders of one user and market, or lists of them. While the outcome of an attempt is not known, who asks for the
 * same sends the same body under the same key, so that it cannot be placed twice: not by other prices in between, nor by
 * another form in the place of this one.
 */
export function usePlaceOrder(userId: string | undefined, symbol: string, onPlaced: () => void) {
  const { rest } = useExchange();
  const client = useQueryClient();
  const attempts = attemptsAt(`spot ${userId} ${symbol}`);
  const last = useAttempt(attempts);
  const send = async (body: OrderBody | ListBody, key: string): Promise<Order[]> => {
    const header = { "Idempotency-Key": key };
    if ("orders" in body)
      return (await returned(rest.POST("/api/v1/orders/lists", { body, params: { header } }))).orders;
    return [await returned(rest.POST("/api/v1/orders", { body, params: { header } }))];
  };
  const { mutate } = useMutation({
    mutationFn: ({ asked, body }: Wish) => attempt(attempts, asked, body, send),
    onSuccess: (orders) => {
      for (const placed of orders) noteOrder(client, placed);
      void client.invalidateQueries({ queryKey: BALANCES });
      void loadOutcome().then(
        ({ tellPlaced }) => tellPlaced(orders),
        () => toastDone(t("Order placed")),
      );
      onPlaced();
    },
    onError: (error) => {
      if (!isRefusal(error, true)) void client.invalidateQueries({ queryKey: ["orders"] });
    },
  });
  return {
    place: (wish: Wish) => {
      if (attempts.get()?.state !== "pending") mutate(wish);
    },
    isPending: last?.state === "pending",
    error: last?.error ?? null,
  };
}

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
