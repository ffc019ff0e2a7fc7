/** The pictures of coins, from the list of markets. Pure. */
import type { Market } from "../api/queries.ts";

type Logos = Pick<Market, "baseAsset" | "quoteAsset" | "logo" | "quoteLogo">;

/** The name of each asset's picture, of those that have one. */
export function logosOf(markets: readonly Logos[]): ReadonlyMap<string, string> {
  const named = markets.flatMap(({ baseAsset, quoteAsset, logo, quoteLogo }): [string, string][] => [
    [baseAsset, logo],
    [quoteAsset, quoteLogo],
  ]);
  return new Map(named.filter(([, logo]) => logo !== ""));
}
