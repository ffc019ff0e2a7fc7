import { useMarkets, useNetworks } from "../api/queries.ts";

/** Decimals of an asset that no network carries, such as the platform's own. */
const PLACES_MAX = 18;

/** The names of all traded assets, and how many decimals an amount of each may have. */
export function useAssets(): { names: readonly string[]; placesOf: (asset: string) => number } {
  const { data: markets = [] } = useMarkets();
  const { data: networks = [] } = useNetworks();
  return {
    names: [...new Set(markets.flatMap(({ baseAsset, quoteAsset }) => [baseAsset, quoteAsset]))].sort(),
    placesOf: (name) => networks.find(({ asset }) => asset === name)?.places ?? PLACES_MAX,
  };
}
