import { expect, test } from "vitest";
import { beginOf, lastDays, pointsOf, type ReserveRow, uncovered } from "./reports.ts";

test("thirty days end today", () => {
  expect(lastDays(Date.parse("2026-03-01T23:59:59Z"))).toEqual({
    from: "2026-01-31",
    to: "2026-03-01",
    by: "day",
  });
});

test("the figures of a period are one point", () => {
  const rows = [
    { period: "2026-02", amount: "1.5" },
    { period: "2026-01", amount: "2" },
    { period: "2026-02", amount: "0.5" },
  ];
  expect(pointsOf(rows, ({ amount }) => amount)).toEqual([
    { at: Date.parse("2026-01-01T00:00:00Z"), value: 2 },
    { at: Date.parse("2026-02-01T00:00:00Z"), value: 2 },
  ]);
  // Fees have eighteen places: more than a number can have.
  const [fees] = pointsOf([{ period: "2026-01", amount: "1141.278514582510612345" }], ({ amount }) => amount);
  expect(fees?.value).toBeCloseTo(1141.2785145825106, 10);
  expect(beginOf("2026-01-31")).toBe(Date.parse("2026-01-31T00:00:00Z"));
});

test("only the newest period warns", () => {
  const row = { asset: "BTC", liabilities: "1", house: "0", loans: "0", reserves: "0", ratio: "0" };
  const rows: ReserveRow[] = [
    { ...row, period: "2026-01-01", covered: false },
    { ...row, period: "2026-01-02", covered: true },
    { ...row, period: "2026-01-02", asset: "USD", covered: false },
    { ...row, period: "2026-01-02", asset: "SOL", covered: null, reserves: null, ratio: null },
  ];
  expect(uncovered(rows).map(({ asset }) => asset)).toEqual(["USD"]);
  expect(uncovered([])).toEqual([]);
});
