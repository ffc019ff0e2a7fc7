import { describe, expect, it } from "vitest";
import type { Market } from "../api/queries.ts";
import { isClosed, listedMarkets } from "./states.ts";

const market = (symbol: string, status: Market["status"], active = true) => ({ symbol, status, active });

describe("the statuses of a market", () => {
  it.each([
    ["announced", true],
    ["post-only", false],
    ["auction", false],
    ["open", false],
    ["delisting", true],
    ["delisted", true],
  ] as const)("%s takes no orders: %s", (status, expected) => expect(isClosed({ status })).toBe(expected));

  it("set the delisted markets apart, and hide only what an operator has closed for a while", () => {
    const markets = [
      market("A-USD", "open"),
      market("B-USD", "open", false),
      market("C-USD", "announced", false),
      market("D-USD", "delisting", false),
      market("E-USD", "delisted", false),
      market("F-USD", "open", false),
    ];
    const { listed, delisted } = listedMarkets(markets, "F-USD");
    expect(listed.map(({ symbol }) => symbol)).toEqual(["A-USD", "C-USD", "D-USD", "F-USD"]);
    expect(delisted.map(({ symbol }) => symbol)).toEqual(["E-USD"]);
  });
});
