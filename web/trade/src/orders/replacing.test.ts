import { expect, it } from "vitest";
import type { Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { type Wanted, wantedOf } from "./amending.ts";
import { changeOf, isChangeable, slippageOf } from "./replacing.ts";

const market = {
  symbol: "BTC-USD",
  baseAsset: "BTC",
  quoteAsset: "USD",
  tickSize: "0.5",
  lotSize: "0.001",
} as Market;
const trailing = {
  orderId: "1",
  clientOrderId: "mine",
  symbol: "BTC-USD",
  side: "sell",
  type: "trailing_stop_market",
  timeInForce: "gtc",
  price: null,
  quantity: "2",
  filledQuantity: "0",
  triggerBy: "mark",
  triggerStatus: "waiting",
  stopPrice: null,
  trailingBps: 150,
  trailingAmount: null,
  maxSlippageBps: "50",
} as unknown as Order;
const limited = {
  ...trailing,
  type: "trailing_stop_limit",
  timeInForce: "gtd",
  expiresAt: "2027-01-01T00:00:00.000Z",
  displayQuantity: "1",
  price: "99",
  trailingBps: null,
  trailingAmount: "10",
} as Order;
const of = (order: Order, changes: Partial<Wanted>) =>
  changeOf(order, { ...wantedOf(order), ...changes }, market);

it("replaces an order that shall follow at another distance, and keeps all else of it", () => {
  expect(wantedOf(trailing)).toEqual({ price: "", quantity: "2", stopPrice: "", trailing: "1.5" });
  expect(of(trailing, {})).toMatchObject({ body: null, replacement: null });
  expect(of(trailing, { trailing: "2.25", quantity: "1" }).replacement).toEqual({
    symbol: "BTC-USD",
    side: "sell",
    type: "trailing_stop_market",
    quantity: "1",
    triggerBy: "mark",
    trailingBps: 225,
    maxSlippageBps: "50",
    clientOrderId: "mine",
    mode: "stop_on_failure",
  });
  expect(of(limited, { trailing: "12.5" }).replacement).toEqual({
    symbol: "BTC-USD",
    side: "sell",
    type: "trailing_stop_limit",
    quantity: "2",
    triggerBy: "mark",
    trailingAmount: "12.5",
    price: "99",
    timeInForce: "gtd",
    expiresAt: "2027-01-01T00:00:00.000Z",
    displayQuantity: "1",
    clientOrderId: "mine",
    mode: "stop_on_failure",
  });
  // One that was placed without a bound of its own gets none, so that the market's stays.
  const unbounded = { ...trailing, maxSlippageBps: undefined } as unknown as Order;
  expect(of(unbounded, { trailing: "2" }).replacement).not.toHaveProperty("maxSlippageBps");
  expect(of(limited, { price: "98" }).replacement).toMatchObject({ price: "98", trailingAmount: "10" });
});

it("matches as far from the price that fires it as the order did", () => {
  const replaced = of(trailing, { trailing: "2" }).replacement;
  expect(replaced && slippageOf(replaced)).toBe("0.5");
  const { replacement } = of({ ...trailing, maxSlippageBps: "512.5" }, { trailing: "2" });
  expect(replacement && slippageOf(replacement)).toBe("5.125");
  const unbounded = of({ ...trailing, maxSlippageBps: undefined }, { trailing: "2" });
  expect(unbounded.replacement && slippageOf(unbounded.replacement)).toBeNull();
});

it("amends another quantity alone, so that the order goes on from the best price it has seen", () => {
  expect(of(trailing, { quantity: "1" })).toMatchObject({ body: { quantity: "1" }, replacement: null });
});

it.each([
  [trailing, { trailing: "" }, "Enter how far it follows."],
  [trailing, { trailing: "100" }, "From 0.01 % to 99.99 %, in steps of 0.01 %."],
  [trailing, { trailing: "0.001" }, "From 0.01 % to 99.99 %, in steps of 0.01 %."],
  [limited, { trailing: "12.3" }, "Prices go in steps of 0.5 USD."],
] as const)("names what is wrong with a distance: %#", (order, changes, fault) => {
  expect(of(order, changes)).toMatchObject({ faults: { trailing: fault }, body: null, replacement: null });
});

it("changes no order of a list, and treats one that has fired as the limit order that it is", () => {
  expect(isChangeable(trailing)).toBe(true);
  expect(isChangeable({ ...trailing, listState: "active" })).toBe(false);
  const fired = { ...limited, triggerStatus: "triggered" } as Order;
  expect(of(fired, { price: "98" })).toMatchObject({ body: { price: "98" }, replacement: null });
});
