/** Plans, and the subscriptions and payments of all users. */
import { useQuery } from "@tanstack/react-query";
import { returned, type Schemas, slice, useEdge } from "../operator/client.ts";
import { useGrowingList } from "./queries.ts";
import type { Span } from "./span.ts";

export type Plan = Schemas["PlanRecord"];
export type Subscription = Schemas["SubscriptionRecord"];
export type PlanPayment = Schemas["SubscriptionPaymentRecord"];

export const SUBSCRIPTION_STATES = [
  { value: "active", label: "Active" },
  { value: "past_due", label: "Past due" },
  { value: "expired", label: "Expired" },
] as const;
export const PAYMENT_STATES = [
  { value: "completed", label: "Paid" },
  { value: "failed", label: "Failed" },
] as const;

/** All plans, the lowest rank first. They change with a restart of the subscription service. */
export function usePlans() {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["people", "plans"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/plans", { signal })),
    staleTime: 60_000,
  });
}

export interface SubscriptionFilter extends Span {
  userId?: string;
  planId?: string;
  status?: (typeof SUBSCRIPTION_STATES)[number]["value"];
}

export function useSubscriptions(filter: SubscriptionFilter) {
  return useGrowingList<Subscription>(["subscriptions", filter], ({ rest }, place, signal) =>
    slice(rest.GET("/api/v1/operator/subscriptions", { params: { query: { ...filter, ...place } }, signal })),
  );
}

export interface PlanPaymentFilter extends Span {
  userId?: string;
  status?: (typeof PAYMENT_STATES)[number]["value"];
}

export function usePlanPayments(filter: PlanPaymentFilter) {
  return useGrowingList<PlanPayment>(["plan payments", filter], ({ rest }, place, signal) =>
    slice(
      rest.GET("/api/v1/operator/subscription-payments", {
        params: { query: { ...filter, ...place } },
        signal,
      }),
    ),
  );
}
