/** What the console reads of users and their money at the REST edge, and what it changes there. */
import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { type Edge, type Schemas, type Slice, returned, slice, useEdge } from "../operator/client.ts";
import { type Days, type Span, spanOf } from "./span.ts";

/** Rows of a page. */
const PAGE = 50;
const LIST_INTERVAL_MS = 5_000;

export type FoundUser = Schemas["FoundUserResponse"];
export type UserOverview = Schemas["UserOverviewResponse"];
export type ClosedUser = Schemas["ClosedUserResponse"];
export type OperatorRequest = Schemas["OperatorRequestResponse"];
export type Adjustment = Schemas["AdjustmentResponse"];
export type QueuedVerification = Schemas["QueuedVerificationResponse"];
export type ListedWithdrawal = Schemas["OperatedWithdrawalResponse"];
export type ListedDeposit = Schemas["OperatedDepositResponse"];
export type ListedPayment = Schemas["OperatedPaymentResponse"];
export type LockKind = Schemas["LockKind"];

/** What the query of a page has beside its filters. */
interface Place {
  limit: number;
  cursor?: string;
}

type Read<Row> = (edge: Edge, place: Place, signal: AbortSignal) => Promise<Slice<Row>>;

/** A list that grows downwards, a page at a time. */
export function useGrowingList<Row>(key: readonly unknown[], read: Read<Row>) {
  const edge = useEdge();
  const query = useInfiniteQuery({
    queryKey: ["people", ...key],
    queryFn: ({ pageParam, signal }) =>
      read(edge, { limit: PAGE, ...(pageParam === null ? {} : { cursor: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    refetchInterval: LIST_INTERVAL_MS,
  });
  return { query, rows: query.data?.pages.flatMap(({ rows }) => rows) };
}

/** The filters of a list over all users; an empty text filters nothing. */
export interface ListFilter extends Days {
  userId: string;
  asset: string;
  state: string;
}

/** The filters as the edge takes them. */
export function listQuery({ userId, asset, state, ...days }: ListFilter) {
  return {
    ...(userId === "" ? {} : { userId }),
    ...(asset === "" ? {} : { asset }),
    ...(state === "" ? {} : { state }),
    ...spanOf(days),
  };
}

/** The users whom a text points at. */
export function useUserSearch(text: string) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["people", "search", text],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/operator/users/search", { params: { query: { q: text } }, signal })),
    enabled: text !== "",
    placeholderData: keepPreviousData,
  });
}

export function useNewestUsers(span: Span) {
  return useGrowingList<FoundUser>(["users", span], ({ rest }, place, signal) =>
    slice(rest.GET("/api/v1/operator/users", { params: { query: { ...span, ...place } }, signal })),
  );
}

export function useUser(userId: string) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["people", "user", userId],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/operator/users/{userId}", { params: { path: { userId } }, signal })),
    refetchInterval: LIST_INTERVAL_MS,
  });
}

export function useUserBalances(userId: string) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["people", "balances", userId],
    queryFn: ({ signal }) =>
      returned(
        rest.GET("/api/v1/operator/users/{userId}/balances", { params: { path: { userId } }, signal }),
      ),
    refetchInterval: LIST_INTERVAL_MS,
  });
}

export function useUserSessions(userId: string) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["people", "sessions", userId],
    queryFn: ({ signal }) =>
      returned(
        rest.GET("/api/v1/operator/users/{userId}/sessions", { params: { path: { userId } }, signal }),
      ),
    refetchInterval: LIST_INTERVAL_MS,
  });
}

export function useUserKeys(userId: string) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["people", "keys", userId],
    queryFn: ({ signal }) =>
      returned(
        rest.GET("/api/v1/operator/users/{userId}/api-keys", { params: { path: { userId } }, signal }),
      ),
    refetchInterval: LIST_INTERVAL_MS,
  });
}

export interface RequestFilter extends Span {
  status?: OperatorRequest["status"];
  userId?: string;
}

export function useRequests(filter: RequestFilter) {
  return useGrowingList<OperatorRequest>(["requests", filter], ({ rest }, place, signal) =>
    slice(rest.GET("/api/v1/operator/requests", { params: { query: { ...filter, ...place } }, signal })),
  );
}

export interface AdjustmentFilter extends Span {
  userId?: string;
  status?: "pending" | "done" | "refused";
}

export function useAdjustments(filter: AdjustmentFilter) {
  return useGrowingList<Adjustment>(["adjustments", filter], ({ rest }, place, signal) =>
    slice(rest.GET("/api/v1/operator/adjustments", { params: { query: { ...filter, ...place } }, signal })),
  );
}

export interface VerificationFilter extends Span {
  status: QueuedVerification["status"];
  userId?: string;
}

export function useVerifications(filter: VerificationFilter) {
  return useGrowingList<QueuedVerification>(["verifications", filter], ({ rest }, place, signal) =>
    slice(rest.GET("/api/v1/operator/verifications", { params: { query: { ...filter, ...place } }, signal })),
  );
}

/** One verification with what the user stated. The trail notes each reading, so it is read once. */
export function useVerification(userId: string) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["verification", userId],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/operator/verifications/{userId}", { params: { path: { userId } }, signal })),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
}

/** A change at the edge. What was read of people is read again after it, also if it was refused. Fails with EdgeError. */
export function useChange<Given, Result>(
  change: (edge: Edge, given: Given) => Promise<Result>,
  onDone: (result: Result) => void,
) {
  const edge = useEdge();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (given: Given) => change(edge, given),
    onSuccess: (result) => {
      onDone(result);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["people"] }),
  });
}
