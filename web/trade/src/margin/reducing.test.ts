import { expect, it } from "vitest";
import { scaledText } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import type { MarginAccount, MarginPosition } from "./queries.ts";
import { reducible, reviewReducing } from "./reducing.ts";

const market = { symbol: "BTC-USD", lotSize: "0.01", quantityMin: "0.1" } as Market;
const position = (positionId: string, side: string, quantity: string, changes: object = {}) =>
  ({ positionId, symbol: "BTC-USD", side, quantity, status: "open", ...changes }) as MarginPosition;
// The service lists the newest first.
const account = {
  status: "active",
  positions: [
    position("newest", "buy", "3"),
    position("short", "sell", "7"),
    position("other", "buy", "9", { symbol: "ETH-USD" }),
    position("busy", "buy", "9", { status: "closing" }),
    position("oldest", "buy", "2"),
  ],
} as MarginAccount;

it("a sell closes the open longs of its market, the oldest first, and a buy the shorts", () => {
  expect(reducible("BTC-USD", "sell", account).map((each) => each.positionId)).toEqual(["oldest", "newest"]);
  expect(reducible("BTC-USD", "buy", account).map((each) => each.positionId)).toEqual(["short"]);
});

it.each([
  ["1", ["1", "0"]],
  ["2", ["2", "0"]],
  ["2.1", ["2", "0.1"]],
  ["5", ["2", "3"]],
  // More than is open closes all of it.
  ["50", ["2", "3"]],
])("a sell of %s closes %j", (quantity, closed) => {
  const { parts, blocked, open } = reviewReducing({ side: "sell", quantity }, market, account);
  expect(parts.map((part) => scaledText(part.quantity))).toEqual(closed);
  expect([blocked, scaledText(open)]).toEqual([null, "5"]);
});

it.each([
  ["x", "write the quantity as digits with a point, more than zero"],
  ["0", "write the quantity as digits with a point, more than zero"],
  ["0.05", "raise the quantity: an order has at least 0.1"],
  ["1.95", "close all of it, or leave at least 0.1, the least quantity of an order"],
  ["2.05", "0.05 of a position of 3 is left: raise the quantity: an order has at least 0.1"],
])("a sell of %j is refused: %s", (quantity, fault) => {
  const review = reviewReducing({ side: "sell", quantity }, market, account);
  expect(review).toMatchObject({ fault, blocked: "Correct the marked field.", parts: [] });
});

it.each([
  ["", account, "Enter a quantity."],
  ["1", { ...account, positions: [] }, "You have no open long of BTC-USD."],
  ["1", { ...account, status: "liquidating" }, "Your account is being liquidated."],
])("a sell of %j waits: %s", (quantity, now, why) => {
  expect(reviewReducing({ side: "sell", quantity }, market, now).blocked).toBe(why);
});
