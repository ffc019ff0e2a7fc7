import { expect, it } from "vitest";
import type { Market, Ticker } from "../api/queries.ts";
import { compareChange, comparePrice, isFound, movers, quotesOf, rowsOf } from "./overview.ts";

const market = (symbol: string, active = true) =>
  ({ symbol, active, baseAsset: symbol.split("-")[0], quoteAsset: symbol.split("-")[1] }) as Market;
const ticker = (
  symbol: string,
  lastPrice: string | null,
  priceChangePercent: string | null,
  quoteVolume = "0",
) => ({ symbol, lastPrice, priceChangePercent, quoteVolume }) as Ticker;

const ROWS = rowsOf(
  [market("AA-USD"), market("BB-USD"), market("CC-BTC"), market("DD-QQQ"), market("EE-USD", false)],
  [
    ticker("AA-USD", "9", "1.5", "100"),
    ticker("BB-USD", "10", "-20", "5000"),
    // 2 BTC at 60,000 are more than 5,000 US dollars.
    ticker("CC-BTC", "0.1", "12", "2"),
    ticker("DD-QQQ", null, null, "999999"),
  ],
  [{ asset: "BTC", price: "60000", state: "good" }],
);
const names = (rows: typeof ROWS) => rows.map((row) => row.market.symbol);

it("lists what can be traded by its turnover in one currency, the unknown last", () => {
  expect(names(ROWS)).toEqual(["CC-BTC", "BB-USD", "AA-USD", "DD-QQQ"]);
});

it("offers the quote assets by how many markets they have", () => {
  expect(quotesOf(ROWS)).toEqual(["USD", "BTC", "QQQ"]);
});

it("finds by symbol with any separator, and by name", () => {
  for (const word of ["btc", "btc-u", "BTC/USD", "btcusd", " usd ", "", "bitc"])
    expect(isFound({ symbol: "BTC-USD", name: "Bitcoin" }, word)).toBe(true);
  for (const word of ["eth", "usd-btc", "btc-usdt"])
    expect(isFound({ symbol: "BTC-USD", name: "Bitcoin" }, word)).toBe(false);
});

it("names who rose and who fell most, as numbers and not as texts", () => {
  expect(names(movers(ROWS, 1, 2))).toEqual(["CC-BTC", "AA-USD"]);
  expect(names(movers(ROWS, -1, 2))).toEqual(["BB-USD"]);
  expect(names([...ROWS].sort(comparePrice))).toEqual(["DD-QQQ", "CC-BTC", "AA-USD", "BB-USD"]);
  expect(names([...ROWS].sort(compareChange))).toEqual(["DD-QQQ", "BB-USD", "AA-USD", "CC-BTC"]);
});
