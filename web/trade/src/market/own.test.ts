import { expect, it } from "vitest";
import type { Order } from "../api/orderKinds.ts";
import { countOf } from "../indicators/shown.ts";
import { isMovable, linePrice, movedField, withTriggers } from "./own.ts";

const order = { type: "limit", price: "100" } as Order;

it.each([
  [{}, "100", true],
  [{ listState: "active" }, "100", true],
  [{ listState: "planned" }, "100", true],
  [{ type: "market", price: null }, null, false],
  [{ type: "stop_limit", stopPrice: "90", triggerStatus: "waiting" }, "90", true],
  [{ type: "stop_limit", stopPrice: "90", triggerStatus: "waiting", listState: "planned" }, "90", true],
  [
    { type: "trailing_stop_limit", stopPrice: "90", triggerStatus: "waiting", listState: "active" },
    "90",
    false,
  ],
  [{ type: "trailing_stop_limit", stopPrice: "90", triggerStatus: "waiting" }, "90", true],
  [{ type: "stop_limit", stopPrice: "90", triggerStatus: "triggered" }, "100", true],
  [{ type: "stop_market", price: null, stopPrice: "90", triggerStatus: "waiting" }, "90", true],
  [{ type: "trailing_stop_market", price: null, stopPrice: null, triggerStatus: "waiting" }, null, false],
] satisfies [Partial<Order>, string | null, boolean][])(
  "the line of %j is at %s, and whether it can be moved is %s",
  (changes, price, isFree) => {
    const changed = { ...order, ...changes };
    expect(linePrice(changed)).toBe(price);
    expect(isMovable(changed)).toBe(isFree);
  },
);

it("moves what an order waits for, and then its limit", () => {
  const stop = { ...order, type: "stop_limit", stopPrice: "90" } as Order;
  expect(movedField({ ...stop, triggerStatus: "waiting" })).toBe("stopPrice");
  expect(movedField({ ...stop, triggerStatus: "triggered" })).toBe("price");
  expect(movedField(order)).toBe("price");
});

it("gives orders that follow the price what fires them now, until they have fired", () => {
  const waits = { ...order, orderId: "1", type: "trailing_stop_limit", triggerStatus: "waiting" } as Order;
  const triggers = [{ orderId: "1", triggerPrice: "90", limitPrice: "89" }];
  expect(withTriggers([waits, order], triggers)).toEqual([{ ...waits, stopPrice: "90", price: "89" }, order]);
  expect(withTriggers([{ ...waits, price: null }], triggers)).toMatchObject([
    { stopPrice: "90", price: null },
  ]);
  const fired = { ...waits, triggerStatus: "triggered", stopPrice: "91" } as Order;
  expect(withTriggers([fired], triggers)).toEqual([fired]);
});

it("counts the indicators that a kept choice shows", () => {
  expect(countOf(null)).toBe(0);
  expect(countOf(JSON.stringify({ a: { isShown: true }, b: { isShown: false }, c: { isShown: true } }))).toBe(
    2,
  );
});
