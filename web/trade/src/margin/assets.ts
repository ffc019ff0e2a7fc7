import { useMemo } from "react";
import { useMarkets, useNetworks, useTickers } from "../api/queries.ts";
import { type Marks, marksOf } from "./figures.ts";

/** Digits of an asset that no network carries: the platform's own. */
const PLACES_MAX = 18;

/** The assets that are traded here, with the digits that amounts of them may have. */
export function useAssets(): { names: readonly string[]; placesOf: (asset: string) => number } {
  const { data: markets = [] } = useMarkets();
  const { data: networks = [] } = useNetworks();
  return {
    names: [...new Set(markets.flatMap(({ baseAsset, quoteAsset }) => [baseAsset, quoteAsset]))].sort(),
    placesOf: (name) => networks.find(({ asset }) => asset === name)?.places ?? PLACES_MAX,
  };
}

/** What a unit of each asset is worth by the last trades. */
export function useMarks(valuationAsset: string): Marks {
  const { data } = useTickers();
  return useMemo(() => marksOf(valuationAsset, data ?? []), [valuationAsset, data]);
}
