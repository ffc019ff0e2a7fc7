/** Which markets the page Markets lists, and in which order. Pure. */
import { compareDecimals } from "#lib/decimal.ts";
import { multiplyScaled, readScaled } from "#lib/scaled.ts";
import type { AssetPrice, Market, Ticker } from "../api/queries.ts";

export interface MarketRow {
  market: Market;
  ticker: Ticker | undefined;
  /** The turnover of 24 hours in US dollars, at 18 places; null where no price of the quote asset is known. */
  worth: bigint | null;
}

/** Each market that can be traded with its ticker, the largest turnover first. */
export function rowsOf(
  markets: readonly Market[],
  tickers: readonly Ticker[],
  prices: readonly AssetPrice[],
): MarketRow[] {
  const bySymbol = new Map(tickers.map((ticker) => [ticker.symbol, ticker]));
  const byAsset = new Map(prices.map(({ asset, price }) => [asset, readScaled(price)]));
  return markets
    .filter(({ active }) => active)
    .map((market) => {
      const ticker = bySymbol.get(market.symbol);
      const price = market.quoteAsset === "USD" ? readScaled("1") : (byAsset.get(market.quoteAsset) ?? null);
      const turnover = readScaled(ticker?.quoteVolume ?? "");
      return {
        market,
        ticker,
        worth: price === null || turnover === null ? null : multiplyScaled(turnover, price),
      };
    })
    .sort((a, b) => compareWorth(b, a) || compareNames(a, b));
}

/** The quote assets, that with the most markets first. */
export function quotesOf(rows: readonly MarketRow[]): string[] {
  const counts = new Map<string, number>();
  for (const { market } of rows) counts.set(market.quoteAsset, (counts.get(market.quoteAsset) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0], "en")).map(([quote]) => quote);
}

/** Whether a search finds a market: by symbol, with "-", "/" or nothing between the assets, or by name. */
export function isFound({ symbol, name }: Pick<Market, "symbol" | "name">, word: string): boolean {
  const wanted = word.trim().toUpperCase();
  const plain = wanted.replace(/[-/\s]/g, "");
  return (
    symbol.includes(wanted.replace("/", "-")) ||
    (plain !== "" && symbol.replace("-", "").includes(plain)) ||
    name.toUpperCase().includes(wanted)
  );
}

/** The `count` markets that rose most, with `sign` 1, or fell most, with −1. What did not move is in neither. */
export function movers(rows: readonly MarketRow[], sign: 1 | -1, count: number): MarketRow[] {
  return rows
    .filter(
      ({ ticker }) => ticker?.priceChangePercent && compareDecimals(ticker.priceChangePercent, "0") === sign,
    )
    .sort((a, b) => sign * compareChange(b, a) || compareNames(a, b))
    .slice(0, count);
}

export const compareNames = (a: MarketRow, b: MarketRow) =>
  a.market.symbol.localeCompare(b.market.symbol, "en");
export const compareChange = (a: MarketRow, b: MarketRow) =>
  compareKnown(a.ticker?.priceChangePercent, b.ticker?.priceChangePercent);
export const comparePrice = (a: MarketRow, b: MarketRow) =>
  compareKnown(a.ticker?.lastPrice, b.ticker?.lastPrice);

/** By turnover in US dollars: turnovers in different assets cannot be compared. */
export function compareWorth(a: MarketRow, b: MarketRow): number {
  const [left, right] = [a.worth ?? -1n, b.worth ?? -1n];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** What is not known is less than everything. */
function compareKnown(a: string | null | undefined, b: string | null | undefined): number {
  if (!a || !b) return (a ? 1 : 0) - (b ? 1 : 0);
  return compareDecimals(a, b);
}
