import { describe, expect, it } from "vitest";
import { accountBand, linesOf } from "./lines.ts";
import type { MarginAccount, MarginPosition } from "./queries.ts";
import { priceOf } from "./testPrices.ts";

const position = (changes: Partial<MarginPosition>) =>
  ({
    symbol: "BTC-USD",
    side: "buy",
    quantity: "4",
    entryPrice: "100",
    status: "open",
    ...changes,
  }) as MarginPosition;
const account = (changes: Partial<MarginAccount>) =>
  ({
    status: "active",
    marginLevel: "1.666666666666666667",
    prices: [priceOf("USD", "1"), priceOf("BTC", "70")],
    balances: [
      { asset: "BTC", total: "4", available: "4", borrowed: "0", interest: "0", isOffered: true },
      { asset: "USD", total: "100", available: "100", borrowed: "300", interest: "0", isOffered: true },
    ],
    positions: [position({})],
    ...changes,
  }) as unknown as MarginAccount;

describe("lines", () => {
  it("are entry and liquidation price of the market's open positions", () => {
    expect(linesOf("BTC-USD", account({}))).toEqual([
      { id: "long", price: "100", title: "Long entry", tone: "accent", isFramed: false },
      // (1.05 × 300 − 100) ÷ 4, less than a quarter below the fair price.
      { id: "liquidation", price: "53.75", title: "Liquidation", tone: "positive", isFramed: true },
    ]);
  });

  it("have the entry of each side, weighted by the quantities", () => {
    const positions = [
      position({}),
      position({ quantity: "1", entryPrice: "50" }),
      position({ side: "sell", quantity: "2", entryPrice: "80" }),
      position({ status: "opening", entryPrice: null }),
      position({ status: "closed", entryPrice: "7" }),
      position({ symbol: "ETH-USD", entryPrice: "7" }),
    ];
    const prices = linesOf("BTC-USD", account({ positions })).map(({ id, price }) => [id, price]);
    expect(prices).toEqual([
      ["long", "90"],
      ["short", "80"],
      ["liquidation", "53.75"],
    ]);
  });

  it("are none without a position, and no liquidation without a debt or a price", () => {
    expect(linesOf("ETH-USD", account({}))).toEqual([]);
    const free = account({ balances: [] });
    expect(linesOf("BTC-USD", free).map(({ id }) => id)).toEqual(["long"]);
    expect(linesOf("BTC-USD", account({ prices: [] })).map(({ id }) => id)).toEqual(["long"]);
  });
});

it.each([
  ["active", "1.6", "safe", "positive"],
  ["active", "1.5", "warning", "warning"],
  ["active", null, "safe", "positive"],
  ["liquidating", "1.6", "liquidation", "negative"],
] as const)(
  "the line of an account that is %s at a level of %s has the colour of %s",
  (status, marginLevel, band, tone) => {
    const now = account({ status, marginLevel });
    expect(accountBand(now)).toBe(band);
    expect(linesOf("BTC-USD", now).at(-1)?.tone).toBe(tone);
  },
);
