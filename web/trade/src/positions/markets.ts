/** Rows of results by market, and what is of none. Pure. */
import type { SpotMarket, SpotMarkets } from "./queries.ts";

export interface MarketRow {
  /** Null is what no fill on a market realised. */
  market: SpotMarket | null;
  realisedPnl: SpotMarket["realisedPnl"];
}

export function marketRows({ markets }: Pick<SpotMarkets, "markets">): MarketRow[] {
  return markets.map((market) => ({ market, realisedPnl: market.realisedPnl }));
}

/** The rows, and behind them what is of no market, unless that is nothing at any time: the column adds up with it. */
export function withOther(rows: MarketRow[], { other }: Pick<SpotMarkets, "other">): MarketRow[] {
  const isNothing = Object.values(other.realisedPnl).every((amount) => !/[1-9]/.test(amount));
  return isNothing ? rows : [...rows, { market: null, realisedPnl: other.realisedPnl }];
}
