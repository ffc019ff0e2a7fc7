import { expect, it } from "vitest";
import { showLanguage } from "#lib/language.ts";
import german from "../../languages/de.json";
import { RefusedError } from "../api/errors.ts";
import type { Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { isAmendable, isFar, wantedOf } from "./amending.ts";
import { amendmentOf, refusedFields } from "./amendment.ts";
import { listName } from "./listName.ts";
import { orderName } from "./orderName.ts";
import { termsOf, waitsFor } from "./trigger.ts";

const market = {
  symbol: "BTC-USD",
  baseAsset: "BTC",
  quoteAsset: "USD",
  tickSize: "0.5",
  lotSize: "0.001",
} as Market;
const order = {
  orderId: "1",
  symbol: "BTC-USD",
  side: "sell",
  type: "limit",
  price: "100",
  quantity: "2",
  filledQuantity: "0.5",
} as Order;

it("asks for what differs alone, and keeps the place of an order that only gets smaller", () => {
  const of = (price: string, quantity: string) =>
    amendmentOf(order, { price, quantity, stopPrice: "", trailing: "" }, market);
  expect(of("100.0", "2.00")).toEqual({ faults: {}, body: null, keepsPlace: false });
  expect(of("100", "1")).toEqual({ faults: {}, body: { quantity: "1" }, keepsPlace: true });
  expect(of("100", "3")).toEqual({ faults: {}, body: { quantity: "3" }, keepsPlace: false });
  expect(of("101", "1")).toEqual({ faults: {}, body: { price: "101", quantity: "1" }, keepsPlace: false });
});

it.each([
  [{ price: "" }, { price: "Enter a price." }],
  [{ price: "100.3" }, { price: "Prices go in steps of 0.5 USD." }],
  [{ quantity: "0.5" }, { quantity: "More than the 0.5 that are filled already." }],
  [{ quantity: "0.0001" }, { quantity: "Amounts go in steps of 0.001 BTC." }],
  [{ quantity: "x" }, { quantity: "An amount is digits with a point, such as 0.25." }],
])("names what is wrong at its field: %j", (changes, faults) => {
  const { body, faults: found } = amendmentOf(order, { ...wantedOf(order), ...changes }, market);
  expect(found).toEqual(faults);
  expect(body).toBeNull();
});

it.each([
  ["buy", "103", "100", true],
  ["buy", "102.5", "100", false],
  ["buy", "50", "100", false],
  ["sell", "97", "100", true],
  ["sell", "97.5", "100", false],
  ["sell", "50", null, false],
  ["sell", "", "100", false],
] as const)("knows what is far from the market: %s at %s, the last price is %s", (side, price, last, far) => {
  expect(isFar({ ...order, side }, price, last)).toBe(far);
  expect(isFar({ ...order, side, triggerStatus: "waiting" }, price, last)).toBe(false);
});

it("puts a refusal at the field that it names", () => {
  const refusal = (code: string, message: string | string[]) =>
    new RefusedError(400, { code, message }, null);
  const refused = (code: string, message: string | string[], changes: Partial<Order> = {}) =>
    refusedFields(refusal(code, message), { ...order, ...changes });
  expect(refused("VALIDATION_FAILED", ["price must be positive"])).toEqual({
    price: "must be positive",
  });
  expect(refused("QUANTITY_BELOW_FILLED", "1 is filled")).toEqual({ quantity: "1 is filled" });
  const stop = { type: "stop_limit", stopPrice: "90", triggerStatus: "waiting" } as const;
  expect(refused("TRIGGER_WOULD_FIRE", "TRIGGER_WOULD_FIRE", stop)).toEqual({
    stopPrice: "The price would fire it at once",
  });
  // The entry of a list waits for nothing, so this is about an exit.
  expect(refused("TRIGGER_WOULD_FIRE", "TRIGGER_WOULD_FIRE")).toEqual({
    price: "An exit of its list would fire at once",
  });
  expect(refused("LIST_EXIT_WOULD_FILL", "LIST_EXIT_WOULD_FILL")).toEqual({
    price: "An exit would trade at once",
  });
  expect(refused("RISK_NSF", "not enough")).toEqual({});
  expect(refusedFields(new Error("price is wrong"), order)).toEqual({});
});

const waiting = { ...order, triggerBy: "last", triggerStatus: "waiting" } as const;

it.each([
  [{}, true],
  [{ type: "market", price: null }, false],
  [{ type: "stop_limit" }, true],
  [{ type: "stop_market", price: null, stopPrice: "90" }, true],
  [{ type: "trailing_stop_market", price: null, stopPrice: "90" }, false],
  [{ type: "limit", listState: "active" }, true],
  [{ type: "stop_market", price: null, stopPrice: "90", listState: "planned" }, true],
  [{ type: "limit", listState: "ended" }, true],
  // Its limit follows the price.
  [{ type: "trailing_stop_limit" }, false],
  [{ type: "trailing_stop_limit", triggerStatus: "triggered" }, true],
] satisfies [Partial<Order>, boolean][])("knows what can be changed: %j", (changes, can) => {
  expect(isAmendable({ ...waiting, ...changes })).toBe(can);
});

it("gives an order that waits another trigger, and one without a limit no price", () => {
  const stop = { ...waiting, type: "stop_market", price: null, stopPrice: "90" } as const;
  const of = (changes: object) => amendmentOf(stop, { ...wantedOf(stop), ...changes }, market);
  expect(wantedOf(stop)).toEqual({ price: "", quantity: "2", stopPrice: "90", trailing: "" });
  expect(of({}).body).toBeNull();
  expect(of({ stopPrice: "91" }).body).toEqual({ stopPrice: "91" });
  expect(of({ stopPrice: "91.2" }).faults).toEqual({ stopPrice: "Prices go in steps of 0.5 USD." });
  expect(of({ stopPrice: "" }).faults).toEqual({ stopPrice: "Enter a stop price." });
  const both = { ...stop, type: "stop_limit", price: "89" } as const;
  expect(
    amendmentOf(both, { price: "88", quantity: "1", stopPrice: "91", trailing: "" }, market).body,
  ).toEqual({
    price: "88",
    quantity: "1",
    stopPrice: "91",
  });
});

it("asks for another price of an order of a list, whose amount is that of the others", () => {
  const profit = { ...order, listState: "planned", listRole: "take_profit" } as Order;
  expect(wantedOf(profit)).toEqual({ price: "100", quantity: "", stopPrice: "", trailing: "" });
  const of = (price: string) => amendmentOf(profit, { ...wantedOf(profit), price }, market);
  expect(of("101")).toEqual({ faults: {}, body: { price: "101" }, keepsPlace: false });
  expect(of("100.0")).toEqual({ faults: {}, body: null, keepsPlace: false });
  expect(of("")).toMatchObject({ faults: { price: "Enter a price." }, body: null });
});

it.each([
  [{ listType: "bracket", listRole: "entry", listState: "active" }, "Bracket 4f2a: entry"],
  [
    { listType: "bracket", listRole: "stop_loss", listState: "planned" },
    "Bracket 4f2a: stop loss, waits for its entry",
  ],
  [{ listType: "oco", listRole: "take_profit", listState: "active" }, "OCO 4f2a: take profit"],
  [
    { listType: "oto", listRole: "take_profit", listState: "ended" },
    "Entry with exit 4f2a: take profit, goes on alone",
  ],
  [{}, ""],
] satisfies [Partial<Order>, string][])("says what an order is in its list: %j", (changes, words) => {
  expect(listName({ ...order, listId: "l-004f2a", ...changes })).toBe(words);
});

it.each([
  [{ type: "stop_market", side: "buy", stopPrice: "65000" }, "waits for last ≥ 65,000"],
  [{ type: "stop_market", stopPrice: "65000", triggerBy: "mark" }, "waits for mark ≤ 65,000"],
  [{ type: "take_profit_limit", stopPrice: "65000" }, "waits for last ≥ 65,000"],
  [
    { type: "trailing_stop_limit", stopPrice: "64000", trailingBps: 150 },
    "waits for last ≤ 64,000, follows by 1.5 %",
  ],
  [
    { type: "trailing_stop_limit", stopPrice: null, trailingAmount: "100" },
    "waits for last, follows by 100 USD",
  ],
] satisfies [Partial<Order>, string][])("says what a row waits for: %j", (changes, words) => {
  const terms = termsOf({ ...waiting, ...changes });
  expect(terms && waitsFor(terms)).toBe(words);
});

it("says with the separators of the page how much is filled already", () => {
  const filled = { ...order, quantity: "2000", filledQuantity: "1500" };
  expect(amendmentOf(filled, { ...wantedOf(filled), quantity: "1000" }, market).faults.quantity).toBe(
    "More than the 1,500 that are filled already.",
  );
});

it("names an order by what it does", () => {
  expect(termsOf(order)).toBeNull();
  expect(orderName(order)).toBe("sell 2 BTC-USD at 100");
  expect(orderName({ ...order, side: "buy", quantity: "1500", price: "65000.5" })).toBe(
    "buy 1,500 BTC-USD at 65,000.5",
  );
  expect(orderName({ ...waiting, type: "stop_market", price: null, stopPrice: "90" })).toBe(
    "sell 2 BTC-USD, waits for last ≤ 90",
  );
  // The question whether it is to be cancelled has this name, too.
  showLanguage("de", german);
  expect(orderName(order)).toBe("Verkauf 2 BTC-USD zu 100");
  expect(orderName({ ...order, side: "buy" })).toBe("Kauf 2 BTC-USD zu 100");
  showLanguage("en", {});
});
