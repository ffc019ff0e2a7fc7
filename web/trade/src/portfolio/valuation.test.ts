import { describe, expect, it } from "vitest";
import { scaledText } from "#lib/scaled.ts";
import type { Balance, Ticker } from "../api/queries.ts";
import { valueOf } from "./valuation.ts";

const balance = (asset: string, total: string): Balance => ({
  asset,
  total,
  available: total,
  locked: "0",
  reserved: null,
  source: "engine",
});
const ticker = (symbol: string, lastPrice: string | null) => ({ symbol, lastPrice }) as Ticker;

describe("the value of balances", () => {
  it("is exact, goes by last prices, and names what has none", () => {
    const { holdings, total, unpriced } = valueOf(
      [balance("USD", "10.25"), balance("ETH", "0.5"), balance("XYZ", "3"), balance("SOL", "0")],
      [ticker("ETH-USD", "2000.5"), ticker("XYZ-USD", null)],
      "USD",
    );
    expect(scaledText(total)).toBe("1010.5");
    expect(holdings.map((holding) => holding.balance.asset)).toEqual(["ETH", "USD", "SOL", "XYZ"]);
    expect(unpriced).toEqual(["XYZ"]);
  });
});
