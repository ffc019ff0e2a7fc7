/** Fair prices of assets, apart from what every page of a market loads. */
import { useQuery } from "@tanstack/react-query";
import { returned, useExchange } from "./client.ts";

/** Market data publishes an unchanged fair price every three seconds. */
const FAIR_PRICES_MS = 3_000;

/** What each asset is worth in US dollars, at the fair prices of the markets. */
export function useAssetPrices() {
  const { rest } = useExchange();
  return useQuery({
    queryKey: ["assetPrices"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/markets/asset-prices", { signal })),
    refetchInterval: FAIR_PRICES_MS,
    meta: { isPublic: true },
  });
}
