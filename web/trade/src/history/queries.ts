/** What the history reads from the REST edge. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useExchange } from "../api/client.ts";
import { whileUnreached } from "../api/errors.ts";
import { useSession } from "../api/session.ts";
import type { HistoryList, Wanted } from "./lists.ts";

const AGAIN_MS = 10_000;

/** A list by its filter, a page at a time. */
export function useHistory<Row>(list: HistoryList<Row>, wanted: Wanted) {
  const { rest } = useExchange();
  const { session } = useSession();
  const { subject, from, to } = wanted;
  return useInfiniteQuery({
    queryKey: [...list.key, "history", subject, from, to],
    queryFn: ({ pageParam, signal }) => list.page(rest, wanted, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    enabled: session !== null,
    placeholderData: keepPreviousData,
    // Whoever has read far back, or lets the page look through many rows, would have all of it read again.
    refetchInterval: (query) =>
      (query.state.data?.pages.length ?? 0) > 1 || list.isLookedThrough(wanted)
        ? whileUnreached(query)
        : AGAIN_MS,
  });
}
