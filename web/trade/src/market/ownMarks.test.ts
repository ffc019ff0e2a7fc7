import { expect, test } from "vitest";
import { fillMarks, lineLabel, orderTitle } from "./ownMarks.ts";

const fill = (side: "buy" | "sell", quantity: string, executedAt: string) => ({ side, quantity, executedAt });
const TIMES = [3600, 7200, 10_800];
const at = (seconds: number) => new Date(seconds * 1000).toISOString();

test("fills of one candle and side are one mark with the exact sum", () => {
  const fills = [fill("buy", "0.1", at(3600)), fill("buy", "0.2", at(7199.999)), fill("sell", "1", at(4000))];
  expect(fillMarks(fills, TIMES)).toEqual([
    { time: 3600, side: "buy", quantity: "0.3", count: 2 },
    { time: 3600, side: "sell", quantity: "1", count: 1 },
  ]);
});

test("marks are in order of time, whatever the order of the fills", () => {
  const fills = [fill("sell", "2", at(11_000)), fill("buy", "1", at(7200))];
  expect(fillMarks(fills, TIMES).map(({ time }) => time)).toEqual([7200, 10_800]);
});

test("a fill before the first candle has no mark", () => {
  expect(fillMarks([fill("buy", "1", at(3599))], TIMES)).toEqual([]);
  expect(fillMarks([fill("buy", "1", at(3599))], [])).toEqual([]);
});

test.each([
  [{}, "Sell 1,200.5"],
  [{ type: "stop_limit" }, "Sell 1,200.5"],
  [{ type: "stop_limit", triggerStatus: "waiting" }, "Stop: Sell 1,200.5"],
  [{ type: "take_profit_market", triggerStatus: "waiting" }, "Take profit: Sell 1,200.5"],
  [{ type: "trailing_stop_market", triggerStatus: "waiting" }, "Trailing stop: Sell 1,200.5"],
  [{ listRole: "take_profit", listState: "planned" }, "Take profit: Sell 1,200.5"],
  [{ listRole: "take_profit", listState: "ended" }, "Sell 1,200.5"],
] as const)("the line of an order says what is left of it, and what it waits for: %j", (changes, title) => {
  const order = { side: "sell", type: "limit", remainingQuantity: "1200.5" } as const;
  expect(orderTitle({ ...order, ...changes })).toBe(title);
});

test("while markets are compared the axis counts in percent, and a line says its price itself", () => {
  expect(lineLabel("Sell 1", "60177.5574", "0.01", true)).toBe("Sell 1 · 60,177.56");
  expect(lineLabel("Sell 1", "60177.5574", "0.01", false)).toBe("Sell 1");
});
