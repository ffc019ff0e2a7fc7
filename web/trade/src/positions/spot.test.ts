import { describe, expect, it } from "vitest";
import type { SpotHolding } from "./queries.ts";
import { averageCostIn, compareKnown } from "./spot.ts";

describe("the order of holdings", () => {
  it("is by value, and what is unknown comes before a loss", () => {
    const values = ["10", null, "9", "-1", null, "0"];
    expect(values.sort(compareKnown)).toEqual([null, null, "-1", "0", "9", "10"]);
  });
});

describe("the average cost as a price", () => {
  const market = { baseAsset: "SOL", quoteAsset: "USD" };
  const sol: SpotHolding = {
    asset: "SOL",
    quantity: "3",
    knownQuantity: "2",
    estimatedQuantity: "0",
    price: "140",
    value: "420",
    cost: "251",
    averageCost: "125.5",
    unrealisedPnl: "29",
    unrealisedPercent: "11.55",
    unknownValue: "140",
    realisedPnl: { today: "0", week: "0", month: "0", all: "0" },
    fees: [],
  };
  const of = (changes: Partial<SpotHolding>, currency = "USD") =>
    averageCostIn(market, {
      currency,
      holdings: [
        { ...sol, asset: "BTC", averageCost: "1" },
        { ...sol, ...changes },
      ],
    });

  it("is the holding's, to the last digit", () => {
    expect(of({})).toBe("125.5");
    expect(of({ averageCost: "33.333333333333333333" })).toBe("33.333333333333333333");
  });

  it("is missing for one who holds nothing of it, as after a sale of all", () => {
    expect(of({ quantity: "0", knownQuantity: "0", cost: "0", averageCost: null })).toBeNull();
    expect(of({ quantity: "0" })).toBeNull();
    expect(of({ asset: "ETH" })).toBeNull();
  });

  it("is missing if the cost is unknown, and if nothing was paid", () => {
    expect(of({ cost: null, averageCost: null })).toBeNull();
    expect(of({ cost: "0", averageCost: "0" })).toBeNull();
  });

  it("is missing where prices are in another currency than costs", () => {
    expect(of({}, "EUR")).toBeNull();
  });
});
