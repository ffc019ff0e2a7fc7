/** The average price at which the reader has entered a market, for its chart. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { slice, useExchange } from "../api/client.ts";

/** A fill changes the position a moment later; nothing tells of it. */
const REFRESH_MS = 10_000;

/** The price of the open position; null without one, or where no service keeps positions. */
export function useAverageEntry(userId: string | undefined, symbol: string): { price: string } | null {
  const { positions } = useExchange();
  const { data } = useQuery({
    queryKey: ["positions", "entry", userId, symbol],
    queryFn: async ({ signal }) => {
      if (positions === null || userId === undefined) return null;
      const query = { participantId: userId, symbol, status: "open", limit: 1 } as const;
      const { rows } = await slice(positions.GET("/api/pms/positions", { params: { query }, signal }));
      return rows[0]?.averagePrice ?? null;
    },
    enabled: positions !== null && userId !== undefined,
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  return useMemo(() => (data ? { price: data } : null), [data]);
}
