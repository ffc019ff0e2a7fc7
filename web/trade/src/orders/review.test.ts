import { describe, expect, it } from "vitest";
import { scaledText, toScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import type { Book } from "../stream/book.ts";
import { type Draft, EMPTY_DRAFT, type Facts, partOfFunds, review, stepped } from "./review.ts";

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
};
const level = (price: string, quantity: string) => ({
  price,
  quantity,
  scaledPrice: toScaled(price),
  scaledQuantity: toScaled(quantity),
});
const book: Book = {
  seq: 1,
  bids: [level("99", "1"), level("98", "2")],
  asks: [level("100", "1"), level("102", "1"), level("110", "10")],
};
const facts: Facts = { market, book, lastPrice: "100", available: { base: "2", quote: "1000" } };
const draft: Draft = { ...EMPTY_DRAFT, price: "100", amount: "1" };
const of = (changes: Partial<Draft>, about: Partial<Facts> = {}) =>
  review({ ...draft, ...changes }, { ...facts, ...about });

describe("an order of the form", () => {
  it("says of a post-only order that it would be refused, and is sent as one", () => {
    const crossing = of({ price: "100", amount: "1", postOnly: true });
    expect(crossing.warnings).toEqual([
      "At this price the order would trade at once. It is post-only, so the exchange will refuse it.",
    ]);
    expect(crossing.body).toMatchObject({ price: "100", timeInForce: "gtc", postOnly: true });
    expect(of({ price: "99", amount: "1", postOnly: true }).warnings).toEqual([]);
    expect(of({ price: "99", amount: "1" }).body).not.toHaveProperty("postOnly");
    // The mode of a box that is not ticked is not sent, nor that of another type.
    expect(of({ postOnlyMode: "slide" }).body).not.toHaveProperty("postOnlyMode");
    expect(crossing.body).not.toHaveProperty("postOnlyMode");
  });

  it("says of a post-only order that moves where it would rest, and that it takes nothing", () => {
    const buy = of({ price: "102", amount: "1", postOnly: true, postOnlyMode: "slide" });
    expect(buy.warnings).toEqual([
      "At this price the order would trade at once. It is post-only, so it will rest one tick behind the best price of the other side: now at 99.5 USD.",
    ]);
    expect(buy.body).toMatchObject({ price: "102", postOnly: true, postOnlyMode: "slide" });
    expect(scaledText(buy.estimate?.filledNow ?? 1n)).toBe("0");
    // 102 at the maker's 10 bps: should the book be gone by then, it rests at its own price.
    expect(scaledText(buy.estimate?.fee ?? 0n)).toBe("0.102");
    const sell = of({ side: "sell", price: "99", amount: "1", postOnly: true, postOnlyMode: "slide" });
    expect(sell.warnings[0]).toContain("now at 99.5 USD.");
    expect(of({ price: "99.5", postOnly: true, postOnlyMode: "slide" }).warnings).toEqual([]);
    // A price that is far off may still be meant for where the market goes: a word is asked for.
    expect(of({ price: "110", postOnly: true, postOnlyMode: "slide" }).needsWord).toBe(true);
  });

  it("says that a post-only order is refused where there is no price below the best ask", () => {
    const lowest: Book = { seq: 1, bids: [], asks: [level("0.5", "100")] };
    const found = of({ price: "0.5", amount: "60", postOnly: true, postOnlyMode: "slide" }, { book: lowest });
    expect(found.warnings[0]).toContain("the exchange will refuse it");
  });

  it("costs what fills at once with the taker's fee, and what rests with the maker's", () => {
    const { estimate, blocked, body } = of({ price: "102", amount: "3" });
    expect(blocked).toBeNull();
    expect(scaledText(estimate?.filledNow ?? 0n)).toBe("2");
    // 100 + 102 at 25 bps, 102 at 10 bps
    expect(scaledText(estimate?.fee ?? 0n)).toBe("0.607");
    expect(scaledText(estimate?.total ?? 0n)).toBe("304.607");
    // The exchange holds all of it at the limit, with the taker's fee.
    expect(scaledText(estimate?.held ?? 0n)).toBe("306.765");
    expect(scaledText(estimate?.heldFee ?? 0n)).toBe("0.765");
    expect(scaledText(estimate?.averagePrice ?? 0n)).toBe("101");
    expect(body).toEqual({
      symbol: "BTC-USD",
      side: "buy",
      type: "limit",
      price: "102",
      quantity: "3",
      timeInForce: "gtc",
    });
  });

  it("gives a seller what remains after the fee", () => {
    const { estimate } = of({ side: "sell", price: "98", amount: "2" });
    expect(scaledText(estimate?.subtotal ?? 0n)).toBe("197");
    expect(scaledText(estimate?.total ?? 0n)).toBe("196.5075");
  });

  it("is good till a date, which has to be chosen", () => {
    expect(of({ timeInForce: "gtd" }).blocked).toBe("Choose until when the order is good.");
    expect(of({ timeInForce: "gtd", expiresAt: "2026-12-01T12:00:00.000Z" }).body).toEqual({
      symbol: "BTC-USD",
      side: "buy",
      type: "limit",
      price: "100",
      quantity: "1",
      timeInForce: "gtd",
      expiresAt: "2026-12-01T12:00:00.000Z",
    });
    // The date of a choice that was taken back is not sent.
    expect(of({ timeInForce: "ioc", expiresAt: "2026-12-01T12:00:00.000Z" }).body).not.toHaveProperty(
      "expiresAt",
    );
  });

  it("fills whole or not at all, and names the self-trade prevention that was chosen", () => {
    expect(of({ type: "market", timeInForce: "fok", selfTradePrevention: "cancel_both" }).body).toEqual({
      symbol: "BTC-USD",
      side: "buy",
      type: "market",
      quantity: "1",
      maxSlippageBps: "100",
      timeInForce: "fok",
      selfTradePrevention: "cancel_both",
    });
  });

  it("takes no more than whole lots for an amount of money", () => {
    expect(of({ unit: "quote", amount: "33.34" }).body?.quantity).toBe("0.333");
  });

  it("sends the money itself for a market buy", () => {
    const { body } = of({ type: "market", unit: "quote", amount: "50", slippage: "0.5" });
    expect(body).toEqual({
      symbol: "BTC-USD",
      side: "buy",
      type: "market",
      quoteQuantity: "50",
      maxSlippageBps: "50",
    });
  });

  it.each([
    [{ price: "" }, "Enter a price."],
    [{ amount: "" }, "Enter an amount."],
    [{ amount: "0.009" }, "The least amount is 0.01 BTC."],
    [{ amount: "1001" }, "The largest amount is 1,000 BTC."],
    [{ price: "1", amount: "0.02" }, "An order is worth at least 5 USD."],
    [{ amount: "10" }, "Not enough USD: the order needs 1,002.5 with the fee, 1,000 is free."],
    [{ side: "sell", amount: "2.001" }, "Not enough BTC: the order needs 2.001, 2 is free."],
    [{ unit: "quote", amount: "0.01" }, "That is less than one step of 0.001 BTC."],
  ] satisfies [Partial<Draft>, string][])("says why it cannot be sent: %j", (changes, reason) => {
    expect(of(changes).blocked).toBe(reason);
  });

  it.each([
    [{ price: "100.3" }, "price", "Prices go in steps of 0.5 USD."],
    [{ price: "1e3" }, "price", "A price is digits with a point, such as 101.5."],
    [{ price: "-1" }, "price", "A price is more than zero."],
    [{ amount: "0.0001" }, "amount", "Amounts go in steps of 0.001 BTC."],
    [{ amount: "1,5" }, "amount", "An amount is digits with a point, such as 0.25."],
    [{ type: "market", slippage: "0" }, "slippage", "A percentage above zero, such as 1."],
  ] satisfies [Partial<Draft>, "price" | "amount" | "slippage", string][])(
    "marks a bad field: %j",
    (changes, field, fault) => {
      const { faults, body } = of(changes);
      expect(faults[field]).toBe(fault);
      expect(body).toBeNull();
    },
  );

  it("asks for a word where the price is far from the market", () => {
    expect(of({ price: "103", amount: "1" }).needsWord).toBe(true);
    expect(of({ price: "102.5", amount: "1" }).needsWord).toBe(false);
    expect(of({ type: "market", amount: "8", slippage: "10" }, { available: null }).needsWord).toBe(true);
    expect(of({ side: "sell", price: "96", amount: "1" }).needsWord).toBe(true);
  });

  it("warns of a thin book, and blocks nothing for it", () => {
    const { warnings, blocked } = of({ type: "market", amount: "5", slippage: "2" }, { available: null });
    expect(warnings[0]).toBe("The book has 2 BTC within your slippage. The rest is cancelled.");
    expect(blocked).toBeNull();
  });

  it("needs somebody to trade with, or a price", () => {
    expect(of({ type: "market" }, { book: { seq: 1, bids: [], asks: [] } }).blocked).toMatch(
      /nobody to trade with/,
    );
    expect(of({ type: "market" }, { lastPrice: null }).blocked).toMatch(/place a limit order/);
    expect(of({}, { market: { ...market, active: false } }).blocked).toMatch(/closed/);
  });
});

describe("percent buttons", () => {
  const part = (changes: Partial<Draft>, percent = 100n) =>
    partOfFunds({ ...draft, ...changes }, facts, percent);

  it("leave room for the fee, so that the order can be sent", () => {
    for (const changes of [
      {},
      { unit: "quote" },
      { type: "market" },
      { type: "market", unit: "quote" },
      { side: "sell" },
    ] satisfies Partial<Draft>[]) {
      const amount = part(changes);
      expect(of({ ...changes, amount: amount ?? "" }).blocked, JSON.stringify(changes)).toBeNull();
    }
    expect(part({})).toBe("9.975");
    expect(part({ side: "sell" }, 25n)).toBe("0.5");
  });
});

describe("arrow keys", () => {
  it("go by one step and stay above zero", () => {
    expect(stepped("100.2", "0.5", 1n)).toBe("100.5");
    expect(stepped("", "0.5", 1n)).toBe("0.5");
    expect(stepped("0.5", "0.5", -1n)).toBe("0.5");
  });
});
