import { expect, test } from "vitest";
import {
  beginOf,
  figuresOf,
  isUnclosed,
  lastDays,
  pointsOf,
  type ReserveRow,
  type TableRow,
  uncovered,
} from "./reports.ts";

test("thirty days end today", () => {
  expect(lastDays(Date.parse("2026-03-01T23:59:59Z"))).toEqual({
    from: "2026-01-31",
    to: "2026-03-01",
    by: "day",
  });
});

const at = (period: string) => Date.parse(`${period}T00:00:00Z`);

test("the figures of a period are one point", () => {
  const market = { symbol: "BTC-USD", trades: 1, base: "1" };
  const rows = [
    { ...market, period: "2026-02", quote: "1.5" },
    { ...market, period: "2026-01", quote: "2" },
    { ...market, period: "2026-02", quote: "0.5" },
  ];
  const span = { from: "2026-01-05", to: "2026-02-28", by: "month" } as const;
  expect(pointsOf("volumes", rows, span, "2026-02-10")).toEqual([
    { at: at("2026-01-01"), value: 2 },
    { at: at("2026-02-01"), value: 2 },
  ]);
  // Fees have eighteen places: more than a number can have.
  const exact = [{ ...market, period: "2026-01-05", quote: "1141.278514582510612345" }];
  const [point] = pointsOf("volumes", exact, { ...span, by: "day" }, "2026-01-05");
  expect(point?.value).toBeCloseTo(1141.2785145825106, 10);
  expect(beginOf("2026-01-31")).toBe(at("2026-01-31"));
});

test("an emptied account and days without fees are 0, and days to come are nothing", () => {
  const span = { from: "2026-01-30", to: "2026-02-28", by: "day" } as const;
  const held = { account: "exchange:fees", asset: "USD", balance: "7" };
  const emptied = [
    { ...held, period: "2026-01-30" },
    { ...held, period: "2026-01-31" },
  ];
  expect(pointsOf("balances", emptied, span, "2026-02-02")).toEqual([
    { at: at("2026-01-30"), value: 7 },
    { at: at("2026-01-31"), value: 7 },
    { at: at("2026-02-01"), value: 0 },
    { at: at("2026-02-02"), value: 0 },
  ]);
  const fee = { account: "exchange:fees", asset: "USD", fees: "3", rebates: "0", other: "0", total: "3" };
  expect(pointsOf("fees", [{ ...fee, period: "2026-01-31" }], span, "2026-02-01")).toEqual([
    { at: at("2026-01-30"), value: 0 },
    { at: at("2026-01-31"), value: 3 },
    { at: at("2026-02-01"), value: 0 },
  ]);
  expect(pointsOf("fees", [], span, "2026-02-01")).toEqual([]);
});

test("a day that is not closed yet is a gap that says so", () => {
  const span = { from: "2026-01-01", to: "2026-01-03", by: "day" } as const;
  const fee = { account: "house:fees", asset: "USD", fees: "3", rebates: "0", other: "0", total: "3" };
  const unclosed = { period: "2026-01-02", note: "not closed yet" } as const;
  const rows: TableRow[] = [{ ...fee, period: "2026-01-01" }, unclosed];
  expect(figuresOf(rows)).toEqual([{ ...fee, period: "2026-01-01" }]);
  expect(pointsOf("fees", figuresOf(rows), span, "2026-01-03", rows.filter(isUnclosed))).toEqual([
    { at: at("2026-01-01"), value: 3 },
    { at: at("2026-01-02"), value: null, missing: "not closed yet" },
    { at: at("2026-01-03"), value: 0 },
  ]);
});

test("a ratio that is not known is no 0", () => {
  const row = { asset: "BTC", liabilities: "1", house: "0", loans: "0" };
  const rows: ReserveRow[] = [
    { ...row, period: "2026-01-01", reserves: "1.5", ratio: "1.5", covered: true },
    { ...row, period: "2026-01-02", reserves: null, ratio: null, covered: null },
    { ...row, period: "2026-01-04", liabilities: "0", reserves: "1", ratio: null, covered: true },
  ];
  const span = { from: "2026-01-01", to: "2026-01-04", by: "day" } as const;
  expect(pointsOf("reserves", rows, span, "2026-01-04")).toEqual([
    { at: at("2026-01-01"), value: 1.5 },
    { at: at("2026-01-02"), value: null },
    { at: at("2026-01-03"), value: null },
    { at: at("2026-01-04"), value: null },
  ]);
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
