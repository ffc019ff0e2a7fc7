import { describe, expect, it } from "vitest";
import { scaledText, toScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import type { Book } from "../stream/book.ts";
import { listSentences, reviewList } from "./lists.ts";
import { partOfFunds } from "./funds.ts";
import { type Draft, EMPTY_DRAFT, type Facts, type ListBody } from "./draft.ts";
import { review, slides } from "./review.ts";

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
  notionalMax: "1000",
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
const level = (price: string, quantity: string) => ({
  price,
  quantity,
  scaledPrice: toScaled(price),
  scaledQuantity: toScaled(quantity),
});
const book: Book = { seq: 1, bids: [level("99", "5")], asks: [level("101", "5")] };
const facts: Facts = { market, book, lastPrice: "100", available: { base: "2", quote: "1000" } };
const bracket: Draft = { ...EMPTY_DRAFT, price: "98", amount: "1", hasExits: true };
const ofBracket = (changes: Partial<Draft>, about: Partial<Facts> = {}) =>
  reviewList({ ...bracket, takeProfit: "120", stopLoss: "90", ...changes }, { ...facts, ...about });
const oco: Draft = { ...EMPTY_DRAFT, side: "sell", price: "120", stopPrice: "90", amount: "2", isOco: true };
const ofOco = (changes: Partial<Draft>, about: Partial<Facts> = {}) =>
  reviewList({ ...oco, ...changes }, { ...facts, ...about });

describe("an entry with exits", () => {
  it("is one request of three orders with one quantity, and holds the entry's funds alone", () => {
    const { list, body, blocked, estimate } = ofBracket({});
    expect(blocked).toBeNull();
    expect(body).toBeNull();
    expect(list).toEqual({
      type: "bracket",
      orders: [
        { symbol: "BTC-USD", side: "buy", type: "limit", price: "98", timeInForce: "gtc", quantity: "1" },
        { symbol: "BTC-USD", side: "sell", type: "limit", price: "120", timeInForce: "gtc", quantity: "1" },
        {
          symbol: "BTC-USD",
          side: "sell",
          type: "stop_market",
          stopPrice: "90",
          triggerBy: "last",
          maxSlippageBps: "100",
          quantity: "1",
        },
      ],
    });
    expect(scaledText(estimate?.held ?? 0n)).toBe("98.245");
  });

  it("has one exit where one price is given, and needs one of both", () => {
    expect(ofBracket({ stopLoss: "" }).list).toMatchObject({
      type: "oto",
      orders: [{ side: "buy" }, { price: "120" }],
    });
    expect(ofBracket({ takeProfit: "" }).list).toMatchObject({
      type: "oto",
      orders: [{ side: "buy" }, { stopPrice: "90" }],
    });
    const none = ofBracket({ takeProfit: "", stopLoss: "" });
    expect(none.blocked).toBe("Enter a take profit, a stop loss or both.");
    expect(none.list).toBeUndefined();
  });

  it("refuses exits on the wrong side of where the entry is expected to fill", () => {
    expect(ofBracket({ takeProfit: "98", stopLoss: "98" }).faults).toEqual({
      takeProfit: "The entry fills at 98. Enter a price above it.",
      stopLoss: "The entry fills at 98. Enter a price below it.",
    });
    // A limit beyond the last price fills at the last price, but what rests of it may fill at its limit.
    expect(ofBracket({ price: "101", takeProfit: "100.5", stopLoss: "100" }).faults).toEqual({
      takeProfit: "The entry fills at 101. Enter a price above it.",
      stopLoss: "The entry fills at 100. Enter a price below it.",
    });
    expect(ofBracket({ type: "market", takeProfit: "100.5", stopLoss: "99.5" }).faults).toEqual({});
    const seller = { side: "sell", price: "102" } as const;
    expect(ofBracket({ ...seller, takeProfit: "90", stopLoss: "120" }).blocked).toBeNull();
    expect(Object.keys(ofBracket({ ...seller, takeProfit: "120", stopLoss: "90" }).faults)).toEqual([
      "takeProfit",
      "stopLoss",
    ]);
  });

  it("names faults of an exit's price, and bounds of the market that an exit breaks", () => {
    expect(ofBracket({ takeProfit: "120.3" }).faults.takeProfit).toBe("Prices go in steps of 0.5 USD.");
    expect(ofBracket({ slippage: "" }).faults.slippage).toBe("A percentage above zero, such as 1.");
    expect(ofBracket({ takeProfit: "1001" }).blocked).toBe("An order is worth at most 1,000 USD.");
    expect(ofBracket({ stopLoss: "4" }).blocked).toBe("An order is worth at least 5 USD.");
    expect(ofBracket({}, { available: { base: "0", quote: "98" } }).blocked).toMatch("Not enough USD");
  });

  it("has a stop with a limit and by the mark price where they are chosen", () => {
    const { list, warnings } = ofBracket({ stopLimit: "89", triggerBy: "mark", slippage: "" });
    expect(warnings).toEqual([]);
    expect(list?.orders[2]).toEqual({
      symbol: "BTC-USD",
      side: "sell",
      type: "stop_limit",
      price: "89",
      stopPrice: "90",
      triggerBy: "mark",
      timeInForce: "gtc",
      quantity: "1",
    });
    expect(list && listSentences(list, market)[2]).toBe(
      "Stop loss: Sells when the mark price is at or below 90 USD. Its limit is 89 USD.",
    );
    expect(ofBracket({ stopLimit: "89.2" }).faults.stopLimit).toBe("Prices go in steps of 0.5 USD.");
    expect(ofBracket({ stopLimit: "95" }).warnings).toEqual([
      "The limit is above the trigger: when it fires, the order may rest in the book unfilled.",
    ]);
    // Without a stop its limit is no part of the list.
    expect(ofBracket({ stopLoss: "", stopLimit: "89.2" }).list?.orders).toHaveLength(2);
  });

  it("sends no order that moves behind the best price, which the exchange takes in no list", () => {
    const moving = {
      price: "101",
      takeProfit: "120",
      stopLoss: "90",
      postOnly: true,
      postOnlyMode: "slide",
    } as const;
    const { list, warnings, estimate } = ofBracket(moving);
    expect(list?.orders[0]).toMatchObject({ price: "101", postOnly: true });
    expect(list?.orders[0]).not.toHaveProperty("postOnlyMode");
    expect(warnings).toContain(
      "At this price the order would trade at once. It is post-only, so the exchange will refuse it.",
    );
    expect(scaledText(estimate?.filledNow ?? 0n)).toBe("1");
    expect(slides({ ...bracket, ...moving })).toBe(false);
    expect(slides({ ...bracket, ...moving, hasExits: false })).toBe(true);
  });

  it("has exits within the bounds of the market", () => {
    const bounded = { ...market, deviationBpsMax: 2000, slippageBpsMax: 500 };
    const fair = { ...bounded, priceReference: "fair_price", referencePrice: "98" } as const;
    expect(ofBracket({ takeProfit: "117.5" }, { market: fair }).blocked).toBeNull();
    expect(ofBracket({ takeProfit: "118" }, { market: fair }).blocked).toBe(
      "The price is more than 20 % from the fair price, 98.",
    );
    expect(ofBracket({ takeProfit: "120.5" }, { market: bounded }).warnings).toEqual([
      "The price is more than 20 % from the last price, 100. The exchange refuses it, unless that trade is old.",
    ]);
    expect(ofBracket({ stopLimit: "71.5" }, { market: bounded }).blocked).toBe(
      "The limit is more than 20 % from the price that fires the order, 90.",
    );
    expect(ofBracket({ slippage: "6" }, { market: bounded }).faults.slippage).toBe("At most 5 % on BTC-USD.");
  });

  it("expects a market entry at its worst price where the last one is beyond that", () => {
    const fair = { ...market, priceReference: "fair_price", referencePrice: "90" } as const;
    // 90 and 1 % are 90.9, to the tick 90.5.
    expect(
      ofBracket({ type: "market", takeProfit: "95", stopLoss: "90.5" }, { market: fair }).faults,
    ).toEqual({
      stopLoss: "The entry fills at 90.5. Enter a price below it.",
    });
  });

  it("counts lots for an amount of money, since all orders of a list have one quantity", () => {
    const { list } = ofBracket({ type: "market", unit: "quote", amount: "200" });
    expect(list?.orders.map(({ quantity, quoteQuantity }) => [quantity, quoteQuantity])).toEqual([
      ["1.98", undefined],
      ["1.98", undefined],
      ["1.98", undefined],
    ]);
    // At worst 102 each: by the best ask it would be more than the money pays for then.
    const further = ofBracket({ type: "market", unit: "quote", amount: "200", slippage: "2" });
    expect(further.list?.orders[0]?.quantity).toBe("1.96");
  });
});

describe("a limit order and a stop that cancel each other", () => {
  it("is one request of two orders", () => {
    const { list, blocked } = ofOco({});
    expect(blocked).toBeNull();
    expect(list?.type).toBe("oco");
    expect(list?.orders).toMatchObject([
      { side: "sell", type: "limit", price: "120", quantity: "2" },
      { side: "sell", type: "stop_market", stopPrice: "90", quantity: "2", maxSlippageBps: "100" },
    ]);
  });

  it("holds a buyer's money once, for the order that needs more", () => {
    const { estimate, blocked } = ofOco({ side: "buy", price: "90", stopPrice: "110", amount: "1" });
    expect(blocked).toBeNull();
    // 110 and 1 % are 111.1, to the tick 111, with 25 bps for the fee.
    expect(scaledText(estimate?.held ?? 0n)).toBe("111.2775");
    expect(ofOco({ side: "buy", price: "90", stopPrice: "110", amount: "9" }).blocked).toMatch(
      "Not enough USD",
    );
    const all = { ...oco, side: "buy", price: "90", stopPrice: "110", amount: "" } as const;
    expect(reviewList({ ...all, amount: partOfFunds(all, facts, 100n) ?? "" }, facts).blocked).toBeNull();
  });

  it("has a stop with a limit and by the mark price where they are chosen", () => {
    const { list } = ofOco({ stopLimit: "89", triggerBy: "mark", slippage: "" });
    expect(list?.orders[1]).toMatchObject({
      type: "stop_limit",
      price: "89",
      stopPrice: "90",
      triggerBy: "mark",
    });
    expect(ofOco({ stopLimit: "89.2" }).faults).toEqual({ stopLimit: "Prices go in steps of 0.5 USD." });
    expect(ofOco({ stopLimit: "95" }).warnings).toHaveLength(1);
    const all = { ...oco, side: "buy", price: "90", stopPrice: "110", stopLimit: "112", amount: "" } as const;
    const part = reviewList({ ...all, amount: partOfFunds(all, facts, 100n) ?? "" }, facts);
    expect(part.blocked).toBeNull();
    expect(part.list?.orders[1]).toMatchObject({ side: "buy", price: "112" });
  });

  it("refuses a limit that would trade at once, and a stop that would fire at once", () => {
    expect(ofOco({ price: "99" }).faults).toEqual({
      price: "It would trade at once. Enter a price above the best bid.",
    });
    expect(ofOco({ side: "buy", price: "101", stopPrice: "99", amount: "1" }).faults).toEqual({
      price: "It would trade at once. Enter a price below the best ask.",
      stopPrice: "It would fire at once: the last price is 100. Enter a price above it.",
    });
    expect(ofOco({ stopPrice: "" }).blocked).toBe("Enter a stop price.");
    const bounded = { ...market, deviationBpsMax: 1900 };
    expect(ofOco({}, { market: bounded }).warnings).toEqual([
      "The price is more than 19 % from the last price, 100. The exchange refuses it, unless that trade is old.",
    ]);
    expect(ofOco({ price: "" }).blocked).toBe("Enter a price.");
  });
});

describe("the sentences of a list", () => {
  const sentences = (list: ListBody | undefined) => (list ? listSentences(list, market) : []);

  it("name every order, and how they depend on each other", () => {
    expect(sentences(ofBracket({}).list)).toEqual([
      "Entry: Buys 1 BTC at 98 USD or better.",
      "Take profit: Sells 1 BTC at 120 USD or better.",
      "Stop loss: Sells when the last price is at or below 90 USD.",
      "The exits are placed with what the entry fills.",
      "What one of the exits fills, the other loses.",
    ]);
    expect(sentences(ofBracket({ type: "market", stopLoss: "" }).list)).toEqual([
      "Entry: Buys 1 BTC at the best prices of the book.",
      "Take profit: Sells 1 BTC at 120 USD or better.",
      "The exits are placed with what the entry fills.",
    ]);
    expect(sentences(ofOco({}).list)).toEqual([
      "Limit: Sells 2 BTC at 120 USD or better.",
      "Stop: Sells when the last price is at or below 90 USD.",
      "What one of them fills, the other loses.",
    ]);
  });
});

describe("an order that shows a part of itself", () => {
  const of = (changes: Partial<Draft>) =>
    review({ ...EMPTY_DRAFT, price: "98", amount: "1", display: "0.1", ...changes }, facts);

  it("is sent with what the book shows, while it is one that waits in the book", () => {
    expect(of({}).body).toMatchObject({ quantity: "1", displayQuantity: "0.1" });
    expect(of({ timeInForce: "ioc" }).body).not.toHaveProperty("displayQuantity");
    expect(of({ type: "market" }).body).not.toHaveProperty("displayQuantity");
    expect(of({ display: "" }).body).not.toHaveProperty("displayQuantity");
  });

  it("shows less than the whole, at least a hundredth, in whole lots", () => {
    const bounds = "Less than the whole amount, and at least a hundredth of it.";
    expect(of({ display: "1" }).faults.display).toBe(bounds);
    expect(of({ display: "0.009" }).faults.display).toBe(bounds);
    expect(of({ display: "0.01" }).faults).toEqual({});
    expect(of({ display: "0.0105" }).faults.display).toBe("Amounts go in steps of 0.001 BTC.");
  });
});
