/** What is held of a market's base asset has cost on average, for its chart. */
import { useMemo } from "react";
import { useExchange } from "../api/client.ts";
import type { Market } from "../api/queries.ts";
import { useSpotResults } from "./queries.ts";
import { averageCostIn } from "./spot.ts";

/** The price of a line; null if nothing is held, its cost is unknown, or no service keeps positions. */
export function useAverageCost(
  userId: string | undefined,
  market: Market | undefined,
): { price: string } | null {
  const { positions } = useExchange();
  const { data } = useSpotResults(positions && userId !== undefined ? { positions, userId } : null);
  const price = data && market ? averageCostIn(market, data) : null;
  return useMemo(() => (price === null ? null : { price }), [price]);
}
