/** Prices of assets for tests, as the service sends them. All sources agree on them, and no market bounds an amount. */
import type { MarginPrice } from "./queries.ts";

export function priceOf(asset: string, price: string): MarginPrice {
  return {
    asset,
    low: price,
    price,
    high: price,
    dayMedian: price,
    state: "good",
    reason: "",
    sellable: null,
    borrowable: null,
  };
}
