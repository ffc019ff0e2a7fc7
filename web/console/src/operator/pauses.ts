/** Deposits and withdrawals that operators have paused, at the REST edge. */
import { useQuery } from "@tanstack/react-query";
import { type Edge, returned, type Schemas, useEdge } from "./client.ts";

const LIST_INTERVAL_MS = 5_000;

export type Pause = Schemas["PauseResponse"];
export type Direction = Pause["direction"];

/** What a pause is about: null stands for every coin, or for every network. */
export interface PauseScope {
  asset: string | null;
  network: string | null;
}

/** The pause that concerns a coin on a network. */
export function pauseOf(
  pauses: readonly Pause[],
  asset: string,
  network: string,
  direction: Direction,
): Pause | undefined {
  return pauses.find(
    (one) =>
      one.direction === direction &&
      (one.asset === null || one.asset === asset) &&
      (one.network === null || one.network === network),
  );
}

/** What a pause is about, in words. */
export function scopeText({ asset, network }: PauseScope): string {
  if (network === null) return `${asset ?? "every coin"} on all networks`;
  return asset === null ? `every coin on ${network}` : `${asset} on ${network}`;
}

/** Pause deposits or withdrawals. Rejects with EdgeError. */
export function beginPause(
  { rest }: Edge,
  scope: PauseScope,
  direction: Direction,
  notice: string,
  reason: string,
) {
  return returned(rest.PUT("/api/v1/operator/pauses", { body: { ...scope, direction, notice, reason } }));
}

/** End a pause. Rejects with EdgeError. */
export function endPause({ rest }: Edge, { asset, network, direction }: Pause, reason: string) {
  return returned(
    rest.POST("/api/v1/operator/pauses/resumptions", { body: { asset, network, direction, reason } }),
  );
}

/** Everything that is paused. */
export function usePauses() {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["people", "pauses"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/pauses", { signal })),
    refetchInterval: LIST_INTERVAL_MS,
  });
}
