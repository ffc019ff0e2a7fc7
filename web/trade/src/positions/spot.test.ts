import { describe, expect, it } from "vitest";
import { averageCostIn, compareKnown } from "./spot.ts";

describe("the order of holdings", () => {
  it("is by value, and what is unknown comes before a loss", () => {
    const values = ["10", null, "9", "-1", null, "0"];
    expect(values.sort(compareKnown)).toEqual([null, null, "-1", "0", "9", "10"]);
  });
});

describe("the average cost as a price", () => {
  const of = (averageCost: string | null, currency = "USD") =>
    averageCostIn({ quoteAsset: "USD" }, { currency, averageCost });

  it("is the holding's, to the last digit", () => {
    expect(of("125.5")).toBe("125.5");
    expect(of("33.333333333333333333")).toBe("33.333333333333333333");
  });

  it("is missing if the cost is unknown, as that of nothing is, and if nothing was paid", () => {
    expect(of(null)).toBeNull();
    expect(of("0")).toBeNull();
  });

  it("is missing where prices are in another currency than costs", () => {
    expect(of("125.5", "EUR")).toBeNull();
  });
});
