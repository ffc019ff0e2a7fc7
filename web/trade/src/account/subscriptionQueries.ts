/** What the page of the subscription reads from the subscription service. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { returned, slice, type SubscriptionClient } from "../api/client.ts";

export const SUBSCRIPTION = ["subscription"] as const;
const PAYMENTS_LIMIT = 25;

export function usePlans(service: SubscriptionClient) {
  return useQuery({
    queryKey: ["plans"],
    queryFn: ({ signal }) => returned(service.GET("/api/plans", { signal })),
    meta: { isPublic: true },
  });
}

/** What the user may use, and the subscription that gives it; null for a user who has none. */
export function useSubscription(service: SubscriptionClient) {
  return useQuery({
    queryKey: [...SUBSCRIPTION, "own"],
    queryFn: async ({ signal }) => {
      const entitlements = await returned(service.GET("/api/entitlements", { signal }));
      // Without a plan the service knows no subscription, and a browser reports a 404 as an error.
      if (entitlements.planId === null) return { entitlements, subscription: null };
      return { entitlements, subscription: await returned(service.GET("/api/subscription", { signal })) };
    },
  });
}

export function usePayments(service: SubscriptionClient) {
  return useInfiniteQuery({
    queryKey: [...SUBSCRIPTION, "payments"],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAYMENTS_LIMIT, ...(pageParam ? { cursor: pageParam } : {}) };
      return slice(service.GET("/api/payments", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}
