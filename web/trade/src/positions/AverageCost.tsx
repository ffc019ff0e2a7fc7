import { useEffect } from "react";
import type { PositionClient } from "../api/client.ts";
import type { Market } from "../api/queries.ts";
import { useSpotCost } from "./queries.ts";
import { averageCostIn } from "./spot.ts";

interface AverageCostProps {
  positions: PositionClient;
  userId: string;
  market: Market;
  /** The price of a line; null if nothing is held or its cost is unknown. */
  onCost: (price: string | null) => void;
}

/** Tells the chart what the holding of a market's base asset has cost on average. */
export default function AverageCost({ positions, userId, market, onCost }: AverageCostProps) {
  const { data } = useSpotCost({ positions, userId }, market.baseAsset);
  const price = data ? averageCostIn(market, data) : null;
  useEffect(() => onCost(price), [price, onCost]);
  useEffect(() => () => onCost(null), [onCost]);
  return null;
}
