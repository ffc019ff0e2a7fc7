import { describe, expect, it } from "vitest";
import type { Ticker } from "../api/queries.ts";
import type { Candle } from "./candles.ts";
import { candleAt, tickerAt } from "./lastPrice.ts";

const MINUTE = 60_000;
const candle: Candle = {
  timestamp: MINUTE,
  open: "10",
  high: "12",
  low: "9",
  close: "11",
  volume: "5",
  trades: 4,
};

describe("the last price of a screen", () => {
  it("is that of the newest trade in the header", () => {
    const ticker = { symbol: "ETH-USD", lastPrice: "11", volume: "5" } as Ticker;
    expect(tickerAt(ticker, { price: "11.5", timestamp: 1 })).toEqual({ ...ticker, lastPrice: "11.5" });
    expect(tickerAt(ticker, { price: "11", timestamp: 1 })).toBe(ticker);
    expect(tickerAt(ticker, undefined)).toBe(ticker);
    expect(tickerAt(undefined, { price: "11", timestamp: 1 })).toBeUndefined();
  });

  it("is that of the newest trade in the candle of now, with its high and low", () => {
    const at = (price: string, timestamp: number) => candleAt(candle, { price, timestamp }, MINUTE);
    expect(at("13", MINUTE)).toEqual({ ...candle, close: "13", high: "13" });
    expect(at("8", 2 * MINUTE - 1)).toEqual({ ...candle, close: "8", low: "8" });
    expect(at("13", 2 * MINUTE)).toBe(candle);
    expect(at("13", MINUTE - 1)).toBe(candle);
    expect(candleAt(candle, undefined, MINUTE)).toBe(candle);
  });
});
