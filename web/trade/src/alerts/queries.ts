/** The user's price alerts. */
import { useQuery } from "@tanstack/react-query";
import { returned, useExchange } from "../api/client.ts";
import { useSession } from "../api/session.ts";

export const ALERTS = ["alerts"] as const;
/** No event tells of a change of an alert. */
const READ_MS = 5_000;

export function useAlerts() {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: ALERTS,
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/alerts", { signal })),
    enabled: session !== null,
    refetchInterval: READ_MS,
  });
}
