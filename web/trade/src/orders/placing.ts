/** Sending orders. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { toastDone } from "#lib/components/toasts.tsx";
import { t } from "#lib/language.ts";
import { attempt, attemptsAt, useAttempt } from "../api/attempts.ts";
import { returned, useExchange } from "../api/client.ts";
import { isRefusal } from "../api/errors.ts";
import { BALANCES, noteOrder } from "../api/live.ts";
import type { Order } from "../api/orderKinds.ts";
import type { ListBody, OrderBody } from "./draft.ts";

/** What tells the outcome. It is there before an order is sent: the connection may be gone by then. */
export const loadOutcome = () => import("./outcome.ts");

/** What `usePlaceOrder` sends. */
interface Placement {
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
    mutationFn: ({ asked, body }: Placement) => attempt(attempts, asked, body, send),
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
    place: (placement: Placement) => {
      if (attempts.get()?.state !== "pending") mutate(placement);
    },
    isPending: last?.state === "pending",
    error: last?.error ?? null,
  };
}
