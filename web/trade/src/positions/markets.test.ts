import { describe, expect, it } from "vitest";
import { type MarketRow, marketRows, withOther } from "./markets.ts";
import type { SpotMarket } from "./queries.ts";

const realised = (month: string) => ({ today: "0", week: "0", month, all: "0" });

describe("the rows of results by market", () => {
  const market = { symbol: "BTC-USD", realisedPnl: realised("5") } as SpotMarket;
  const rows: MarketRow[] = marketRows({ markets: [market] });

  it("have what is of no market behind the markets, if it is anything at any time", () => {
    expect(rows).toEqual([{ market, realisedPnl: realised("5") }]);
    const ofNone = { market: null, realisedPnl: realised("-0.01") };
    expect(withOther(rows, { other: { realisedPnl: realised("-0.01") } })).toEqual([...rows, ofNone]);
    expect(withOther([], { other: { realisedPnl: realised("-0.01") } })).toEqual([ofNone]);
  });

  it("have no row of nothing", () => {
    expect(withOther(rows, { other: { realisedPnl: realised("0") } })).toEqual(rows);
    expect(withOther([], { other: { realisedPnl: realised("0") } })).toEqual([]);
  });
});
