import { expect, test } from "vitest";
import type { Order } from "../api/orderKinds.ts";
import { LINES_MAX, lineWords } from "./own.ts";
import { fillMarks, lineLabel, nearestLines, orderTitle } from "./ownMarks.ts";

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

const NOTHING_KEPT = () => false;
/** Orders at 1, 2, 3 and so on. */
const ladder = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    orderId: String(at + 1),
    price: String(at + 1),
    type: "limit",
    triggerStatus: null,
  })) as unknown as Order[];
const namesOf = (orders: readonly Order[]) => orders.map(({ orderId }) => orderId);

test("of many orders those nearest to the price are drawn, and the farthest of them says how far that is", () => {
  const { orders, reach } = nearestLines(ladder(1000), 500.1, NOTHING_KEPT);
  expect(orders).toHaveLength(LINES_MAX);
  const nearest = Array.from({ length: LINES_MAX }, (_, at) => String(476 + at));
  expect(namesOf(orders).sort()).toEqual(nearest);
  expect(reach).toBeCloseTo(24.9);
});

test("a line that somebody holds is drawn however far it is", () => {
  const { orders } = nearestLines(ladder(1000), 500.1, (id) => id === "1");
  expect(orders).toHaveLength(LINES_MAX);
  expect(namesOf(orders)).toContain("1");
});

test("few orders are all drawn, in their order, but for those without a price", () => {
  const orders = ladder(LINES_MAX);
  const market = { ...orders[0], orderId: "market", price: null } as unknown as Order;
  expect(nearestLines([...orders, market], 1, NOTHING_KEPT)).toEqual({ orders, reach: null });
});

test("the chart says how many orders it draws, and of how many", () => {
  expect(lineWords([])).toBeNull();
  expect(lineWords(ladder(1))).toBe("Your 1 open order as lines.");
  expect(lineWords(ladder(LINES_MAX))).toBe("Your 50 open orders as lines.");
  expect(lineWords(ladder(1000))).toBe("The 50 of your 1,000 open orders nearest to the price as lines.");
});
