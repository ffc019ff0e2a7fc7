/** What the first steps ask. Keys begin with "funds" or "orders": events read them again. */
import { useQuery } from "@tanstack/react-query";
import { useProfile } from "../account/queries.ts";
import { returned, useExchange } from "../api/client.ts";
import { useSession } from "../api/session.ts";
import type { Progress } from "./steps.ts";

/** How far the user is, or null until it is known. */
export function useProgress(): Progress | null {
  const { rest } = useExchange();
  const { session } = useSession();
  const profile = useProfile();
  const params = { query: { limit: 1 } };
  const movements = useQuery({
    queryKey: ["funds", "first"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/accounts/transactions", { params, signal })),
    enabled: session !== null,
  });
  const orders = useQuery({
    queryKey: ["orders", "first"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/orders", { params, signal })),
    enabled: session !== null,
  });
  if (!profile.data || !movements.data || !orders.data) return null;
  return {
    emailVerified: profile.data.emailVerified,
    mfaEnabled: profile.data.mfaEnabled,
    hasDeposited: movements.data.length > 0,
    hasOrdered: orders.data.length > 0,
  };
}
