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

/** Whether anything was realised that is of no market. */
export function hasOther({ other }: Pick<SpotMarkets, "other">): boolean {
  return Object.values(other.realisedPnl).some((amount) => /[1-9]/.test(amount));
}

/** The rows, and behind them what is of no market, unless that is nothing at any time: the column adds up with it. */
export function withOther(rows: MarketRow[], results: Pick<SpotMarkets, "other">): MarketRow[] {
  return hasOther(results) ? [...rows, { market: null, realisedPnl: results.other.realisedPnl }] : rows;
}
