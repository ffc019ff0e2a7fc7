import { describe, expect, it } from "vitest";
import { scaledText } from "#lib/scaled.ts";
import type { AssetPrice, Balance } from "../api/queries.ts";
import { valueElsewhere, valueOf } from "./valuation.ts";

const balance = (asset: string, total: string): Balance => ({
  asset,
  total,
  available: total,
  locked: "0",
  reserved: null,
  source: "engine",
});
const DOLLAR: AssetPrice = { asset: "USD", price: "1", state: "good" };
const ETHER: AssetPrice = { asset: "ETH", price: "2000.5", state: "thin" };

describe("the value of balances", () => {
  it("goes by fair prices, adds up to the cent, and names what has none", () => {
    const { holdings, total, unpriced } = valueOf(
      [balance("USD", "10.259"), balance("ETH", "0.333333"), balance("XYZ", "3"), balance("SOL", "0")],
      [DOLLAR, ETHER],
    );
    // Exactly 677.0916…: the parts as they are shown are 666.83 and 10.25.
    expect(scaledText(total)).toBe("677.08");
    expect(holdings.map((holding) => holding.balance.asset)).toEqual(["ETH", "USD", "SOL", "XYZ"]);
    expect(unpriced).toEqual(["XYZ"]);
  });

  it("counts what is owned elsewhere, and leaves out what is nothing", () => {
    const parts = [
      {
        name: "staked",
        amounts: [
          { asset: "ETH", amount: "0.5" },
          { asset: "USD", amount: "0.25" },
          { asset: "XYZ", amount: "1" },
        ],
      },
      { name: "in the margin account", amounts: [{ asset: "USD", amount: "-40" }] },
      { name: "nothing", amounts: [{ asset: "ETH", amount: "0" }] },
    ];
    const found = valueElsewhere(parts, [DOLLAR, ETHER]);
    expect(found.map(({ name, value, unpriced }) => [name, scaledText(value), unpriced])).toEqual([
      ["staked", "1000.5", ["XYZ"]],
      ["in the margin account", "-40", []],
    ]);
  });
});
