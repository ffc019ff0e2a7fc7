/**
 * One last price for the whole screen. Ticker, trades and candles come on channels of their own, each at its own pace;
 * the newest trade of the list is the last price of all of them. Pure.
 */
import { compareDecimals } from "#lib/decimal.ts";
import type { Ticker } from "../api/queries.ts";
import type { MarketTrade } from "../stream/feeds.ts";
import type { Candle } from "./candles.ts";

export type LastTrade = Pick<MarketTrade, "price" | "timestamp">;

/** The ticker with the price of the newest trade; the ticker's own where no trade is known. */
export function tickerAt(ticker: Ticker | undefined, trade: LastTrade | undefined): Ticker | undefined {
  return ticker && trade && ticker.lastPrice !== trade.price ? { ...ticker, lastPrice: trade.price } : ticker;
}

/** The candle of now as the newest trade leaves it; a candle that the trade is not in stays as it is. */
export function candleAt(candle: Candle, trade: LastTrade | undefined, length: number): Candle {
  if (!trade || trade.timestamp < candle.timestamp || trade.timestamp >= candle.timestamp + length)
    return candle;
  const { price } = trade;
  return {
    ...candle,
    close: price,
    high: compareDecimals(price, candle.high) > 0 ? price : candle.high,
    low: compareDecimals(price, candle.low) < 0 ? price : candle.low,
  };
}
