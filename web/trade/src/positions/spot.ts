/** Rules of what is held: its order, where what is unknown is less than everything, and its cost as a price. Pure. */
import { compareDecimals, isPositive } from "#lib/decimal.ts";
import type { Market } from "../api/queries.ts";
import type { SpotCost } from "./queries.ts";

export function compareKnown(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareDecimals(a, b);
}

/**
 * What one unit of a market's base asset has cost on average, as a price of the market. Null if its cost is unknown or
 * nothing, as that of nothing is, and in a market whose prices are not in the currency of the costs.
 */
export function averageCostIn(
  { quoteAsset }: Pick<Market, "quoteAsset">,
  { currency, averageCost }: Pick<SpotCost, "currency" | "averageCost">,
): string | null {
  if (quoteAsset !== currency) return null;
  return averageCost !== null && isPositive(averageCost) ? averageCost : null;
}
