/** Operators' alerts: what is raised, where alerts go, and tries of the way. */
import { useQuery } from "@tanstack/react-query";
import { type Schemas, returned, useEdge } from "./client.ts";

const INTERVAL_MS = 5_000;

export type Alerts = Schemas["AlertsResponse"];
export type Alert = Schemas["AlertResponse"];
export type Destination = Schemas["DestinationResponse"];
export type TriedAlert = Schemas["TryResponse"];

/** Every alert, and where they go. Fails with EdgeError. */
export function useAlerts() {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["people", "alerts"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/alerts", { signal })),
    refetchInterval: INTERVAL_MS,
  });
}

/** What became of a try, in a line. */
export function outcomeOf({ destinations }: TriedAlert): string {
  return destinations.map(({ name, fault }) => `${name}: ${fault === "" ? "taken" : fault}`).join("; ");
}
