import { expect, test } from "vitest";
import { fillMarks, orderTitle } from "./ownMarks.ts";

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

test("the line of an order says its side and what is left of it", () => {
  expect(orderTitle({ side: "sell", remainingQuantity: "1200.5" })).toBe("Sell 1,200.5");
  const stop = { side: "sell", remainingQuantity: "2", triggerStatus: "waiting" } as const;
  expect(orderTitle(stop)).toBe("Stop: Sell 2");
});
