import { describe, expect, it } from "vitest";
import { scaledText } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import { type ConditionalDraft, draftTerms, reviewConditional } from "./conditional.ts";
import { partOfFunds } from "./funds.ts";
import { EMPTY_DRAFT, type Facts } from "./draft.ts";
import { triggerName } from "./trigger.ts";
import { triggerSentence } from "./triggerSentence.ts";

const market: Market = {
  symbol: "BTC-USD",
  baseAsset: "BTC",
  quoteAsset: "USD",
  active: true,
  tickSize: "0.5",
  lotSize: "0.001",
  takerFee: 25,
  makerFee: 10,
  baseScaleK: 3,
  quoteScaleK: 1,
  quantityMin: "0.01",
  quantityMax: "1000",
  notionalMin: "5",
  notionalMax: "1000000",
  deviationBpsMax: null,
  slippageBpsMax: null,
  priceReference: "last_trade",
  referencePrice: null,
  rules: "complete",
  phase: "continuous",
  phaseEndsAt: null,
  phaseCause: null,
  status: "open",
  name: "",
  announcement: "",
  logo: "",
  quoteLogo: "",
  schedule: [],
  margin: true,
};
const facts: Facts = { market, book: null, lastPrice: "100", available: { base: "2", quote: "1000" } };
const draft: ConditionalDraft = { ...EMPTY_DRAFT, type: "stop_market", stopPrice: "110", amount: "1" };
const of = (changes: Partial<ConditionalDraft>, about: Partial<Facts> = {}) =>
  reviewConditional({ ...draft, ...changes }, { ...facts, ...about });
const sentenceOf = (changes: Partial<ConditionalDraft>) =>
  triggerSentence(draftTerms({ ...draft, ...changes }, facts), "USD");

describe("an order that waits for a price", () => {
  it("has a stop price, except where it takes a profit", () => {
    expect(triggerName("stop_limit")).toBe("Stop price");
    expect(triggerName("take_profit_market")).toBe("Take profit at");
    expect(of({ stopPrice: "" }).blocked).toBe("Enter a stop price.");
    expect(of({ stopPrice: "", type: "take_profit_market" }).blocked).toBe("Enter a price.");
  });

  it("holds a market buy at its stop price with slippage and fee", () => {
    const { estimate, blocked, body } = of({});
    expect(blocked).toBeNull();
    // 110 and 1 % are 111.1, to the tick 111; 25 bps of that are the fee.
    expect(scaledText(estimate?.held ?? 0n)).toBe("111.2775");
    expect(scaledText(estimate?.heldFee ?? 0n)).toBe("0.2775");
    expect(body).toEqual({
      symbol: "BTC-USD",
      side: "buy",
      type: "stop_market",
      quantity: "1",
      triggerBy: "last",
      maxSlippageBps: "100",
      stopPrice: "110",
    });
  });

  it("sends a limit with its own terms", () => {
    const changes = { type: "take_profit_limit", side: "sell", stopPrice: "120", price: "119.5" } as const;
    expect(of({ ...changes, triggerBy: "mark", timeInForce: "ioc" }).body).toEqual({
      symbol: "BTC-USD",
      side: "sell",
      type: "take_profit_limit",
      price: "119.5",
      timeInForce: "ioc",
      quantity: "1",
      triggerBy: "mark",
      stopPrice: "120",
    });
  });

  it.each([
    ["percent", "1.25", { trailingBps: 125 }],
    ["quote", "2.5", { trailingAmount: "2.5" }],
  ] as const)("follows by %s, to the basis point", (trailingUnit, trailing, sent) => {
    const { body } = of({ type: "trailing_stop_market", side: "sell", trailingUnit, trailing });
    expect(body).toEqual({
      symbol: "BTC-USD",
      side: "sell",
      type: "trailing_stop_market",
      quantity: "1",
      triggerBy: "last",
      maxSlippageBps: "100",
      ...sent,
    });
  });

  it.each([
    [{ stopPrice: "99.7" }, "stopPrice", "Prices go in steps of 0.5 USD."],
    [
      { stopPrice: "100" },
      "stopPrice",
      "It would fire at once: the last price is 100. Enter a price above it.",
    ],
    [
      { side: "sell", stopPrice: "100" },
      "stopPrice",
      "It would fire at once: the last price is 100. Enter a price below it.",
    ],
    [
      { type: "take_profit_market" },
      "stopPrice",
      "It would fire at once: the last price is 100. Enter a price below it.",
    ],
    [
      { type: "trailing_stop_market", trailing: "0.001" },
      "trailing",
      "From 0.01 % to 99.99 %, in steps of 0.01 %.",
    ],
    [
      { type: "trailing_stop_market", trailing: "100" },
      "trailing",
      "From 0.01 % to 99.99 %, in steps of 0.01 %.",
    ],
    [
      { type: "trailing_stop_market", trailing: "0.3", trailingUnit: "quote" },
      "trailing",
      "Prices go in steps of 0.5 USD.",
    ],
  ] satisfies [Partial<ConditionalDraft>, "stopPrice" | "trailing", string][])(
    "marks a bad field: %j",
    (changes, field, fault) => {
      const { faults, body } = of(changes);
      expect(faults[field]).toBe(fault);
      expect(body).toBeNull();
    },
  );

  it("takes the least and the most that an order may follow by", () => {
    for (const trailing of ["0.01", "99.99"])
      expect(of({ type: "trailing_stop_market", side: "sell", trailing }).faults).toEqual({});
  });

  it("does not judge a mark price, which the page does not know", () => {
    expect(of({ stopPrice: "90", triggerBy: "mark" }).faults).toEqual({});
  });

  it.each([
    [{ stopPrice: "" }, "Enter a stop price."],
    [{ type: "trailing_stop_market" }, "Enter how far it follows."],
    [{ type: "stop_limit" }, "Enter a price."],
    [{ amount: "9" }, "Not enough USD: the order needs 1,001.4975 with the fee, 1,000 is free."],
    [{ side: "sell", stopPrice: "90", amount: "2.001" }, "Not enough BTC: the order needs 2.001, 2 is free."],
  ] satisfies [Partial<ConditionalDraft>, string][])("says why it cannot be sent: %j", (changes, reason) => {
    expect(of(changes).blocked).toBe(reason);
  });

  it("warns of a limit that may not fill", () => {
    const limit = { type: "stop_limit", price: "109.5" } as const;
    expect(of(limit).warnings).toEqual([
      "The limit is below the trigger: when it fires, the order may rest in the book unfilled.",
    ]);
    expect(of({ ...limit, price: "110" }).warnings).toEqual([]);
  });

  it("holds one that follows at its distance from the price that the exchange counts by", () => {
    const trailing = { type: "trailing_stop_market", trailing: "10" } as const;
    // 110, and 1 % of that, to the tick.
    expect(scaledText(of(trailing).estimate?.held ?? 0n)).toBe("111.2775");
    const fair = { ...market, priceReference: "fair_price", referencePrice: "104" } as const;
    // 114.4, and 1 % of that, to the tick 115.5.
    expect(scaledText(of(trailing, { market: fair }).estimate?.held ?? 0n)).toBe("115.78875");
    expect(of(trailing, { market: { ...fair, referencePrice: null } }).blocked).toBe(
      "There is no fair price yet: place a limit order.",
    );
    // It fires by the last price all the same.
    const draftOf = { ...draft, ...trailing };
    expect(draftTerms(draftOf, { ...facts, market: fair }).stopPrice).toBe("110");
  });

  it("takes all that is free for one that follows, whatever the stop price of another type was", () => {
    const free = (changes: Partial<ConditionalDraft>) =>
      partOfFunds({ ...draft, type: "trailing_stop_market", trailing: "10", ...changes }, facts, 100n) ?? "";
    // 1,000 without the fee are 997.506…, at 111 each.
    for (const stopPrice of ["", "50", "200"]) expect(free({ stopPrice })).toBe("8.986");
    expect(of({ type: "trailing_stop_market", trailing: "10", amount: "8.986" }).blocked).toBeNull();
    // 100 + 20, and 1 % of that, to the tick 121.
    expect(free({ trailing: "20", trailingUnit: "quote" })).toBe("8.243");
    expect(free({ type: "stop_market", stopPrice: "110" })).toBe("8.986");
  });

  it("has no limit further from its trigger than the market lets it, and no further slippage", () => {
    const bounded = { market: { ...market, deviationBpsMax: 2000, slippageBpsMax: 500 } };
    const limited = { type: "stop_limit", side: "sell", stopPrice: "90" } as const;
    expect(of({ ...limited, price: "72" }, bounded).blocked).toBeNull();
    expect(of({ ...limited, price: "71.5" }, bounded).blocked).toBe(
      "The limit is more than 20 % from the price that fires the order, 90.",
    );
    expect(of({ slippage: "6" }, bounded).faults.slippage).toBe("At most 5 % on BTC-USD.");
  });

  it("is worth what its quantity is at its trigger, as the exchange counts", () => {
    const about = { market: { ...market, notionalMax: "220" } };
    expect(of({ amount: "2" }, about).blocked).toBeNull();
    expect(of({ amount: "2.001" }, about).blocked).toBe("An order is worth at most 220 USD.");
  });

  it("needs a price to follow", () => {
    const trailing = { type: "trailing_stop_market", trailing: "1" } as const;
    expect(of(trailing, { lastPrice: null }).blocked).toMatch(/no price to follow/);
  });

  it.each([
    [{}, "Buys when the last price is at or above 110 USD."],
    [{ side: "sell", triggerBy: "mark" }, "Sells when the mark price is at or below 110 USD."],
    [{ type: "take_profit_limit" }, "Buys when the last price is at or below 110 USD."],
    [{ type: "take_profit_market", side: "sell" }, "Sells when the last price is at or above 110 USD."],
    [
      { type: "trailing_stop_market", side: "sell", trailing: "1.5" },
      "Sells when the last price has fallen 1.5 % from its highest since the order was placed; at present at 98.5 USD.",
    ],
    [
      { type: "trailing_stop_limit", trailing: "3", trailingUnit: "quote", triggerBy: "mark" },
      "Buys when the mark price has risen 3 USD from its lowest since the order was placed.",
    ],
  ] satisfies [Partial<ConditionalDraft>, string][])("says when it fires: %j", (changes, sentence) => {
    expect(sentenceOf(changes)).toBe(sentence);
  });
});
