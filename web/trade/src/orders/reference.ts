/** What the exchange compares the prices of orders with at present. */
import { useQuery } from "@tanstack/react-query";
import { returned, useExchange } from "../api/client.ts";
import type { Market } from "../api/queries.ts";
import { isFairPriced } from "./bounds.ts";

/** Market data publishes an unchanged fair price every three seconds. */
const FAIR_PRICE_MS = 3_000;

/** The market with its reference price and its bounds as of now, where they follow the fair price. */
export function useReferenceMarket(market: Market): Market {
  const { rest } = useExchange();
  const { symbol } = market;
  const enabled = isFairPriced(market);
  const { data } = useQuery({
    queryKey: ["market", symbol],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/markets/{symbol}", { params: { path: { symbol } }, signal })),
    enabled,
    refetchInterval: FAIR_PRICE_MS,
    meta: { isPublic: true },
  });
  return enabled ? (data ?? market) : market;
}
