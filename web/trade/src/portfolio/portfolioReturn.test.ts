import { describe, expect, it } from "vitest";
import { toScaled } from "#lib/scaled.ts";
import { figuresOf } from "./portfolioReturn.ts";
import type { PortfolioReturn } from "./queries.ts";

const NOTHING = {
  deposits: "0",
  withdrawals: "0",
  payments: "0",
  moves: "0",
  subscriptions: "0",
  adjustments: "0",
};
const found = (figures: Partial<PortfolioReturn>): PortfolioReturn => ({
  period: "month",
  beginsAt: 0,
  endsAt: 1,
  startValue: "0",
  endValue: "0",
  flows: NOTHING,
  result: "0",
  income: "0",
  percent: null,
  unpriced: [],
  grouped: false,
  movementCount: 0,
  movements: [],
  ...figures,
});

describe("the return of a portfolio", () => {
  it("adds up to the cent, however many digits the exchange sends", () => {
    const figures = figuresOf(
      found({
        startValue: "100.019999999999999999999999",
        endValue: "250.009",
        flows: { ...NOTHING, deposits: "200.129", withdrawals: "-50.559" },
        result: "0.419000000000000000000001",
        income: "0.129",
      }),
      null,
    );
    expect(figures).toEqual({
      start: "100.01",
      flows: [
        { kind: "deposits", value: "200.12" },
        { kind: "withdrawals", value: "-50.55" },
      ],
      result: "0.42",
      income: "0.12",
      end: "250",
    });
    const parts = [figures.start, ...figures.flows.map(({ value }) => value), figures.result];
    expect(parts.reduce((sum, part) => sum + toScaled(part), 0n)).toBe(toScaled(figures.end));
  });

  it("names no flow and no reward where there was none", () => {
    const figures = figuresOf(found({ startValue: "8", endValue: "7.5", result: "-0.5" }), null);
    expect(figures).toEqual({ start: "8", flows: [], result: "-0.5", income: null, end: "7.5" });
  });

  it("ends with the value that the page shows, unless the holdings have changed since", () => {
    const told = found({ startValue: "900", endValue: "1000.019", result: "100.019" });
    expect(figuresOf(told, toScaled("1000"))).toMatchObject({ result: "100", end: "1000" });
    expect(figuresOf(told, toScaled("1005"))).toMatchObject({ result: "105", end: "1005" });
    expect(figuresOf(told, toScaled("1006"))).toMatchObject({ result: "100.01", end: "1000.01" });
    expect(figuresOf(told, toScaled("0"))).toMatchObject({ end: "1000.01" });
  });
});
