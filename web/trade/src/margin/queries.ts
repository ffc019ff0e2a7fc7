/** The margin page's reading of the account, and its requests that change it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { BALANCES, useStream } from "../api/live.ts";
import { type Asking, useOnce } from "../api/once.ts";
import { explainMargin } from "./refusals.ts";

export type MarginAccount = Schemas["MarginAccount"];
export type MarginBalance = Schemas["MarginBalance"];
export type MarginPosition = Schemas["MarginPosition"];
export type MarginLoan = Schemas["MarginLoan"];
export type MarginPrice = Schemas["MarginPrice"];
type MarginResult = Schemas["MarginResult"];

export const MARGIN = ["margin", "account"] as const;

/** Levels move with prices, and no event tells of them. */
const READ_MS = 5_000;

/** The user's margin account; null without one. It is read again while the page is in sight. */
export function useMarginAccount() {
  const { rest } = useExchange();
  return useQuery<MarginAccount | null>({
    queryKey: MARGIN,
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/margin/account", { signal })),
    // Only this page opens an account, so there is nothing to wait for.
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

/** A request about the account. It has an id, so the service carries it out once even if it is sent again. */
export function useMarginRequest(
  send: (requestId: string) => Promise<MarginResult>,
  onDone: (reply: MarginResult) => void,
  asking?: Asking,
) {
  const client = useQueryClient();
  const request = useOnce(send, {
    reads: [MARGIN, BALANCES],
    onDone: (reply) => {
      // The next collateral opens a new account instead of a closed one.
      client.setQueryData(MARGIN, reply.account.status === "closed" ? null : reply.account);
      onDone(reply);
    },
    ...(asking ? { asking } : {}),
  });
  return { ...request, problem: request.error ? explainMargin(request.error) : null };
}
