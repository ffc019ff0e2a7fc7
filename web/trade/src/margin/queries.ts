/** What the margin page reads, and how it sends what changes the account. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { RefusedError } from "../api/errors.ts";
import { BALANCES, useStream } from "../api/live.ts";
import { useOnce } from "../api/once.ts";
import { explainMargin } from "./refusals.ts";

export type MarginAccount = Schemas["MarginAccountResponse"];
export type MarginBalance = Schemas["MarginBalanceResponse"];
export type MarginPosition = Schemas["MarginPositionResponse"];
export type MarginLoan = Schemas["MarginLoanResponse"];
type MarginReply = Schemas["MarginResponse"];

export const MARGIN = ["margin", "account"] as const;

/** Levels move with prices, and no event tells of them. */
const READ_MS = 5_000;

/** The user's margin account; null without one. It is read again while the page is in sight. */
export function useMarginAccount() {
  const { rest } = useExchange();
  return useQuery<MarginAccount | null>({
    queryKey: MARGIN,
    queryFn: async ({ signal }) => {
      try {
        return await returned(rest.GET("/api/v1/margin/account", { signal }));
      } catch (error) {
        if (error instanceof RefusedError && error.code === "NOT_FOUND") return null;
        throw error;
      }
    },
    // Without an account there is nothing that could change by itself.
    refetchInterval: ({ state: { data } }) => (data === null ? false : READ_MS),
  });
}

/** Read the account again when the exchange tells of changed balances or of a liquidation. */
export function useMarginPushes(): void {
  const stream = useStream();
  const client = useQueryClient();
  useEffect(() => {
    const read = () => void client.invalidateQueries({ queryKey: MARGIN });
    const leave = ["balances", "notifications"].map((channel) => stream.follow(channel, { onPush: read }));
    return () => leave.forEach((stop) => stop());
  }, [stream, client]);
}

/** A request about the account, sent with an id of its own: repeated after an unknown outcome it is done once. */
export function useMarginRequest(
  send: (requestId: string) => Promise<MarginReply>,
  onDone: (reply: MarginReply) => void,
) {
  const client = useQueryClient();
  const request = useOnce(send, {
    reads: [MARGIN, BALANCES],
    onDone: (reply) => {
      // A closed account is history: the next collateral opens another one.
      client.setQueryData(MARGIN, reply.account.status === "closed" ? null : reply.account);
      onDone(reply);
    },
  });
  return { ...request, problem: request.error ? explainMargin(request.error) : null };
}
