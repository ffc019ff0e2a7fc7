import { useMarkets, useNetworks } from "../api/queries.ts";

/** Decimals of an asset that no network carries, such as the platform's own. */
const PLACES_MAX = 18;

/** The names of the assets that margin offers, and how many decimals an amount of each may have. */
export function useAssets(): { names: readonly string[]; placesOf: (asset: string) => number } {
  const { data: markets = [] } = useMarkets();
  const { data: networks = [] } = useNetworks();
  const offered = markets.filter(({ margin }) => margin);
  return {
    names: [...new Set(offered.flatMap(({ baseAsset, quoteAsset }) => [baseAsset, quoteAsset]))].sort(),
    placesOf: (name) => networks.find(({ asset }) => asset === name)?.places ?? PLACES_MAX,
  };
}
