import { describe, expect, it } from "vitest";
import { multiplyScaled, scaledText, toScaled } from "#lib/scaled.ts";
import type { Balance } from "../api/queries.ts";
import { dollars, percentsOf, withPresent } from "./portfolio.ts";
import type { PortfolioPoint } from "./queries.ts";
import { type Holding, type Valuation, valueOf } from "./valuation.ts";

/** Points with so much USD and SOL, and the price of SOL. */
const points = (...rows: [usd: string, sol: string, price: string][]): PortfolioPoint[] =>
  rows.map(([usd, sol, price], index) => {
    const value = scaledText(toScaled(usd) + multiplyScaled(toScaled(sol), toScaled(price)));
    const holdings = [
      { asset: "USD", balance: usd, price: "1", value: usd },
      { asset: "SOL", balance: sol, price, value: null },
      { asset: "XYZ", balance: "5", price: null, value: null },
    ];
    return { timestamp: index, value, unpriced: ["XYZ"], holdings };
  });
const valuation = (...values: (string | null)[]): Valuation => {
  const holdings = values.map((value) => ({ value: value === null ? null : toScaled(value) }) as Holding);
  return { holdings, total: holdings.reduce((sum, { value }) => sum + (value ?? 0n), 0n), unpriced: [] };
};

describe("a portfolio", () => {
  it("ends with what the wallet is worth on the page, to the cent", () => {
    const balance = (asset: string, total: string) => ({ asset, total }) as Balance;
    const wallet = valueOf(
      [
        balance("USD", "10.000000000000000001"),
        balance("SOL", "2"),
        balance("XYZ", "5"),
        balance("BTC", "0"),
      ],
      [
        { asset: "SOL", price: "15.5", state: "good" },
        { asset: "USD", price: "1", state: "good" },
      ],
    );
    const read = points(["100", "0", "10"], ["10", "2", "15.4"]);
    expect(withPresent(read, wallet)).toEqual([
      read[0],
      {
        timestamp: 1,
        value: "41",
        unpriced: ["XYZ"],
        holdings: [
          { asset: "SOL", balance: "2", price: "15.5", value: "31" },
          { asset: "USD", balance: "10.000000000000000001", price: "1", value: "10" },
          { asset: "XYZ", balance: "5", price: null, value: null },
        ],
      },
    ]);
    expect(withPresent([], wallet)).toEqual([]);
  });

  it("writes dollars to the cent and never rounds up", () => {
    expect(dollars("1234.999")).toBe("1,234.99");
    expect(dollars("-0.019")).toBe("−0.01");
    expect(dollars("5")).toBe("5.00");
  });

  it("has shares with two digits that add up to 100, whatever cutting leaves over", () => {
    expect(percentsOf(valuation("1", "1", null, "1"))).toEqual(["33.34", "33.33", "0", "33.33"]);
    expect(percentsOf(valuation("6", "5", "3"))).toEqual(["42.86", "35.71", "21.43"]);
    expect(percentsOf(valuation("99.999", "0.001"))).toEqual(["100", "0"]);
    expect(percentsOf(valuation("7"))).toEqual(["100"]);
  });

  it("has no shares in nothing", () => {
    expect(percentsOf(valuation("0", null))).toEqual(["0", "0"]);
    expect(percentsOf(valuation())).toEqual([]);
  });
});
