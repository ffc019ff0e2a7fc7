import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { returned, useExchange } from "../api/client.ts";
import type { Market } from "../api/queries.ts";
import type { Proposal } from "../market/own.ts";
import AmendReview from "./AmendReview.tsx";
import { isFar, isFollowing } from "./amending.ts";
import { tellRefused, useAmendOrder } from "./changing.ts";
import { useOneClick } from "./habits.ts";
import { dropOf, triggerAt } from "./trailing.ts";

interface ProposedProps {
  market: Market;
  proposal: Proposal;
  lastPrice: string | null;
  userId: string | undefined;
  /** The proposal has become the order's, or was left. */
  onClose: () => void;
}

/** Market data publishes an unchanged fair price every three seconds. */
const FAIR_PRICE_MS = 3_000;

/** The question whether an order shall be where its line was let go. With one-click orders it is done at once. */
export default function Proposed(props: ProposedProps) {
  const { order } = props.proposal;
  return isFollowing(order) && order.triggerBy === "mark" ? (
    <ProposedByMark {...props} />
  ) : (
    <Question {...props} followed={props.lastPrice} />
  );
}

function ProposedByMark(props: ProposedProps) {
  const { rest } = useExchange();
  const { symbol } = props.market;
  const { data, isPending } = useQuery({
    queryKey: ["fairPrice", symbol],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/markets/{symbol}/fair-price", { params: { path: { symbol } }, signal })),
    staleTime: 0,
    gcTime: 0,
    retry: false,
    refetchInterval: FAIR_PRICE_MS,
    meta: { isPublic: true },
  });
  if (isPending) return null;
  // Another one counts for no order: the exchange goes on from the last that did.
  const isMark = data?.state === "good" || data?.state === "thin";
  return <Question {...props} followed={isMark ? data.price : null} />;
}

function Question({
  market,
  proposal,
  followed,
  lastPrice,
  userId,
  onClose,
}: ProposedProps & {
  /** What an order that follows the price follows now; null if nobody knows it. */
  followed: string | null;
}) {
  const { order } = proposal;
  // The distance is that of the moment at which the line was let go.
  const [{ wanted, change }] = useState(() => dropOf(proposal, followed, market));
  const isOneClick = useOneClick(userId);
  const [asks] = useState(
    () => !isOneClick || change.body === null || isFar(order, proposal.price, lastPrice),
  );
  const { mutate, isPending, error } = useAmendOrder({
    onDone: onClose,
    onRefused: (refusal) => {
      // The review shows it otherwise.
      if (asks) return;
      onClose();
      tellRefused(refusal);
    },
  });
  const { body, replacement } = change;
  const isSent = useRef(false);
  useEffect(() => {
    if (asks || body === null || isSent.current) return;
    isSent.current = true;
    mutate({ order, body, replacement });
  }, [asks, order, body, replacement, mutate]);
  if (!asks) return null;
  return (
    <AmendReview
      market={market}
      order={order}
      wanted={wanted}
      change={change}
      firesAt={replacement && followed ? triggerAt(order, wanted.trailing, followed, market.tickSize) : null}
      lastPrice={lastPrice}
      isBusy={isPending}
      error={error}
      onConfirm={() => body && mutate({ order, body, replacement })}
      onClose={onClose}
    />
  );
}
