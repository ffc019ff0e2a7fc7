/** Rules of what is held: its order, where what is unknown is less than everything, and its cost as a price. Pure. */
import { compareDecimals, isPositive } from "#lib/decimal.ts";
import type { Market } from "../api/queries.ts";
import type { SpotResults } from "./queries.ts";

export function compareKnown(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareDecimals(a, b);
}

/**
 * What one unit of a market's base asset has cost on average, as a price of the market. Null if nothing is held, if its
 * cost is unknown or nothing, and in a market whose prices are not in the currency of the costs.
 */
export function averageCostIn(
  { baseAsset, quoteAsset }: Pick<Market, "baseAsset" | "quoteAsset">,
  { currency, holdings }: Pick<SpotResults, "currency" | "holdings">,
): string | null {
  if (quoteAsset !== currency) return null;
  const held = holdings.find(({ asset, quantity }) => asset === baseAsset && isPositive(quantity));
  return held?.averageCost && isPositive(held.averageCost) ? held.averageCost : null;
}
