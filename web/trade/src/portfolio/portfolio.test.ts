import { describe, expect, it } from "vitest";
import { toScaled } from "#lib/scaled.ts";
import { changeOf, dollars, percentOf } from "./portfolio.ts";
import type { PortfolioPoint } from "./queries.ts";
import type { Holding } from "./valuation.ts";

const points = (...values: string[]): PortfolioPoint[] =>
  values.map((value, index) => ({ timestamp: index, value, unpriced: [], holdings: [] }));
const holding = (value: string | null) =>
  ({ value: value === null ? null : toScaled(value) }) as unknown as Holding;

describe("a portfolio", () => {
  it("tells how its value changed", () => {
    expect(changeOf(points("200", "50", "250.119"))).toEqual({ amount: "50.11", percent: "25.05" });
    expect(changeOf(points("200", "100"))).toEqual({ amount: "-100", percent: "-50" });
    expect(changeOf(points("0", "100"))).toEqual({ amount: "100", percent: null });
    expect(changeOf(points("100"))).toBeNull();
    expect(changeOf([])).toBeNull();
  });

  it("writes dollars to the cent and never rounds up", () => {
    expect(dollars("1234.999")).toBe("1,234.99");
    expect(dollars("-0.019")).toBe("−0.01");
    expect(dollars("5")).toBe("5.00");
  });

  it("has shares that are exact to two digits", () => {
    expect(percentOf(holding("1"), toScaled("3"))).toBe("33.33");
    expect(percentOf(holding(null), toScaled("3"))).toBe("0");
    expect(percentOf(holding("0"), 0n)).toBe("0");
  });
});
