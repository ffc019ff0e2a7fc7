/** Lists that the REST edge sends page by page, and how often the pages read a list again. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import type { Slice } from "./client.ts";
import { whileUnreached } from "./errors.ts";
import { useSession } from "./session.ts";

/** Rows of a page. */
export const PAGE = 50;
/** How often a list is read while another service may change it. */
export const PENDING_MS = 10_000;
/** How often it is read while one of its rows is under way: a step takes seconds, and no event tells of it. */
export const UNDER_WAY_MS = 2_000;

/** A list of the user that grows downwards, a page at a time. `read` gets the query of the next page. */
export function useGrowingList<Row>(
  queryKey: readonly unknown[],
  read: (query: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<Slice<Row>>,
  refetchInterval?: number,
) {
  const { session } = useSession();
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      read({ limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    enabled: session !== null,
    placeholderData: keepPreviousData,
    refetchInterval: refetchInterval ?? whileUnreached,
  });
}
