import { describe, expect, it } from "vitest";
import { toScaled } from "#lib/scaled.ts";
import { isConditional } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { askedOf } from "./asked.ts";
import { reviewConditional } from "./conditional.ts";
import { reviewList } from "./lists.ts";
import { type Draft, EMPTY_DRAFT, type Facts, isList } from "./draft.ts";
import { review } from "./review.ts";

const market = {
  symbol: "BTC-USD",
  baseAsset: "BTC",
  quoteAsset: "USD",
  active: true,
  tickSize: "0.5",
  lotSize: "0.001",
  takerFee: 25,
  makerFee: 10,
  quantityMin: null,
  quantityMax: null,
  notionalMin: null,
  notionalMax: null,
  deviationBpsMax: null,
  slippageBpsMax: null,
  priceReference: "last_trade",
  referencePrice: null,
  rules: "complete",
} as Market;

/** What is known while the best bid and the last price are `price`. */
function at(price: string, rules: Market["rules"] = "complete"): Facts {
  const level = (text: string) => ({
    price: text,
    quantity: "50",
    scaledPrice: toScaled(text),
    scaledQuantity: toScaled("50"),
  });
  const book = { seq: 1, bids: [level(price)], asks: [level("110")] };
  return { market: { ...market, rules }, book, lastPrice: price, available: { base: "20", quote: "10000" } };
}

function sent(changes: Partial<Draft>, facts: Facts) {
  const draft: Draft = { ...EMPTY_DRAFT, amount: "100", unit: "quote", ...changes };
  const { type } = draft;
  const found = isConditional(type)
    ? reviewConditional({ ...draft, type }, facts)
    : isList(draft)
      ? reviewList(draft, facts)
      : review(draft, facts);
  const body = found.list ?? found.body;
  if (!body) throw new Error(found.blocked ?? "no body");
  return { body, asked: askedOf(draft, body) };
}

const COMPUTED: [string, Partial<Draft>, Market["rules"]][] = [
  ["a market sell by other rules", { type: "market", side: "sell" }, "specification"],
  ["a trailing stop", { type: "trailing_stop_market", side: "sell", trailing: "2" }, "complete"],
  [
    "a bracket with a market entry",
    { type: "market", hasExits: true, takeProfit: "150", stopLoss: "50" },
    "complete",
  ],
];

describe("what a user asked for", () => {
  it.each(COMPUTED)("stays the same while prices move: %s for an amount of money", (_, changes, rules) => {
    const [before, after] = [sent(changes, at("99.5", rules)), sent(changes, at("90", rules))];
    // It matters, because what would be sent is another order.
    expect(after.body).not.toEqual(before.body);
    expect(after.asked).toBe(before.asked);
  });

  it.each([
    ["amount", { amount: "101" }],
    ["side", { side: "buy" }],
    ["slippage", { slippage: "2" }],
    ["unit", { unit: "base", amount: "1" }],
    ["kind", { type: "limit", price: "90" }],
  ] satisfies [string, Partial<Draft>][])("is something else with another %s", (_, changes) => {
    const before = sent({ type: "market", side: "sell" }, at("99.5")).asked;
    expect(sent({ type: "market", side: "sell", ...changes }, at("99.5")).asked).not.toBe(before);
  });

  it("is something else with another quantity, and no matter what hidden fields say", () => {
    const market = { type: "market", unit: "base", side: "sell" } as const;
    const asked = sent({ ...market, amount: "1" }, at("99.5")).asked;
    expect(sent({ ...market, amount: "2" }, at("99.5")).asked).not.toBe(asked);
    expect(sent({ ...market, amount: "1", price: "88", stopPrice: "77" }, at("99.5")).asked).toBe(asked);
  });
});
