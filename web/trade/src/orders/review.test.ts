import { describe, expect, it } from "vitest";
import { scaledText, toScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import type { Book } from "../stream/book.ts";
import { partOfFunds } from "./funds.ts";
import { type Draft, EMPTY_DRAFT, type Facts } from "./draft.ts";
import { kindOf } from "./labels.ts";
import { review, stepped } from "./review.ts";

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

  it("never takes and is good till a date, both at once", () => {
    const expiresAt = "2026-12-01T12:00:00.000Z";
    expect(of({ price: "99", timeInForce: "gtd", expiresAt, postOnly: true }).body).toEqual({
      symbol: "BTC-USD",
      side: "buy",
      type: "limit",
      price: "99",
      quantity: "1",
      timeInForce: "gtd",
      expiresAt,
      postOnly: true,
    });
    expect(kindOf("limit", "gtd", true)).toBe("Limit, post-only, GTD");
    expect(kindOf("limit", "gtc", true)).toBe("Limit, post-only");
    expect(kindOf("limit", "ioc")).toBe("Limit, IOC");
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

  it("buys as much as an amount of money pays for at the prices of the book, and holds it with its fee", () => {
    const asks: Book = { seq: 1, bids: [], asks: [level("100", "10"), level("106", "10")] };
    const money = { type: "market", unit: "quote", slippage: "5" } as const;
    const all = of({ ...money, amount: "500" }, { book: asks });
    expect(scaledText(all.estimate?.quantity ?? 0n)).toBe("5");
    expect(scaledText(all.estimate?.subtotal ?? 0n)).toBe("500");
    expect(scaledText(all.estimate?.held ?? 0n)).toBe("501.25");
    expect(scaledText(all.estimate?.heldFee ?? 0n)).toBe("1.25");
    expect(all).toMatchObject({ blocked: null, warnings: [], body: { quoteQuantity: "500" } });
    // The engine's fee is rounded up, and the money is held whole, also where no lot is to be had for the rest.
    const odd = of({ ...money, amount: "80.03" }, { book: asks, available: { base: "0", quote: "80.23" } });
    expect(scaledText(odd.estimate?.quantity ?? 0n)).toBe("0.8");
    expect(odd.blocked).toBe("Not enough USD: the order needs 80.230075 with the fee, 80.23 is free.");
    const fine = of({ ...money, amount: "50.000000000000000001" }, { book: asks });
    expect(scaledText(fine.estimate?.held ?? 0n)).toBe("50.125000000000000002");
    // Ten for 1,000, and nothing more below 105.
    const thin = of({ ...money, amount: "1200" }, { book: asks, available: null });
    expect(scaledText(thin.estimate?.quantity ?? 0n)).toBe("10");
    expect(thin.warnings).toEqual(["The book has 10 BTC within your slippage. The rest is cancelled."]);
  });

  it("walks the levels of the book until one is not taken whole", () => {
    const asks: Book = {
      seq: 1,
      bids: [],
      asks: [level("100", "1"), level("102", "1"), level("103", "0.001"), level("110", "10")],
    };
    const found = of({ type: "market", unit: "quote", amount: "151.1", slippage: "20" }, { book: asks });
    // 1 for 100, and 0.5 for 51 of the remaining 51.1.
    expect(scaledText(found.estimate?.quantity ?? 0n)).toBe("1.5");
    expect(scaledText(found.estimate?.subtotal ?? 0n)).toBe("151");
    expect(scaledText(found.estimate?.averagePrice ?? 0n)).toBe("100.6666666666");
  });

  it("cannot be sent for money that the book has nothing for", () => {
    const asks: Book = { seq: 1, bids: [], asks: [level("102", "5")] };
    expect(of({ type: "market", unit: "quote", amount: "50" }, { book: asks }).blocked).toBe(
      "The book has nothing within your slippage that it pays for. Raise the amount or place a limit order.",
    );
    expect(of({ type: "market", unit: "quote", amount: "0.05" }, { book: asks }).blocked).toBe(
      "That is less than one step of 0.001 BTC.",
    );
  });

  it("buys what the money pays for at worst, by the rules of the specification", () => {
    const about = { market: { ...market, rules: "specification" }, available: null } as const;
    const found = of({ type: "market", unit: "quote", amount: "100", slippage: "5" }, about);
    expect(scaledText(found.estimate?.quantity ?? 0n)).toBe("0.952");
    expect(scaledText(found.estimate?.held ?? 0n)).toBe("100.2099");
    expect(found.body).toMatchObject({ quoteQuantity: "100" });
  });

  it("sells as much as brings an amount of money at the prices of the book, and sends the money itself", () => {
    const money = { type: "market", side: "sell", unit: "quote", slippage: "5", timeInForce: "fok" } as const;
    const found = of({ ...money, amount: "148.5" });
    expect(found).toMatchObject({ blocked: null, warnings: [] });
    expect(found.body).toEqual({
      symbol: "BTC-USD",
      side: "sell",
      type: "market",
      quoteQuantity: "148.5",
      maxSlippageBps: "500",
    });
    // 1 at 99 and 0.505 at 98: another lot would be more than the amount.
    expect(scaledText(found.estimate?.quantity ?? 0n)).toBe("1.505");
    expect(scaledText(found.estimate?.subtotal ?? 0n)).toBe("148.49");
    expect(scaledText(found.estimate?.held ?? 0n)).toBe("1.505");
    // Three of 99 and 98, and no more within the slippage.
    const rich = { base: "9", quote: "0" };
    expect(of({ ...money, amount: "400" }, { available: rich }).warnings).toEqual([
      "The book has 3 BTC within your slippage. The rest is cancelled.",
    ]);
  });

  it("sells no more than there is for an amount of money, and says so", () => {
    const money = { type: "market", side: "sell", unit: "quote", slippage: "5", amount: "148.5" } as const;
    const all = of(money, { available: { base: "0.5005", quote: "0" } });
    expect(all.blocked).toBeNull();
    expect(scaledText(all.estimate?.quantity ?? 0n)).toBe("0.5");
    expect(all.warnings).toEqual([
      "The order sells all that you have, 0.5 BTC, and brings less than the amount.",
    ]);
    expect(of(money, { available: { base: "0", quote: "9" } })).toMatchObject({
      blocked: "Not enough BTC: the order needs 0.01, 0 is free.",
      warnings: [],
    });
    // Less than the least amount of the market is refused, too.
    expect(of(money, { available: { base: "0.005", quote: "9" } }).blocked).toBe(
      "Not enough BTC: the order needs 0.01, 0.005 is free.",
    );
    const far: Book = { seq: 1, bids: [level("90", "5")], asks: [] };
    expect(of(money, { book: far }).blocked).toBe(
      "The book has nothing within your slippage. Raise the amount or place a limit order.",
    );
  });

  it("sells for money what that is at the best bid by the rules of the specification", () => {
    const about = { market: { ...market, rules: "specification" } } as const;
    const found = of({ type: "market", side: "sell", unit: "quote", amount: "148.5", slippage: "5" }, about);
    expect(found.body).toMatchObject({ quantity: "1.5" });
    expect(found.body).not.toHaveProperty("quoteQuantity");
    // 1 at 99 and 0.5 at 98.
    expect(scaledText(found.estimate?.subtotal ?? 0n)).toBe("148");
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

  it("is judged by the fair price where the exchange does so", () => {
    const fair = {
      ...market,
      tickSize: "0.01",
      priceReference: "fair_price",
      referencePrice: "104",
    } as const;
    const asks: Book = {
      seq: 1,
      bids: [],
      asks: [level("104", "1"), level("105.04", "1"), level("105.05", "1")],
    };
    const about = { market: fair, book: asks, lastPrice: "100" };
    const buy = of({ type: "market", amount: "1" }, about);
    expect(buy.warnings).toEqual([]);
    // 104 and 1 % are 105.04; 25 bps of that are the fee.
    expect(scaledText(buy.estimate?.held ?? 0n)).toBe("105.3026");
    expect(scaledText(buy.estimate?.filledNow ?? 0n)).toBe("1");
    expect(of({ type: "market", amount: "3" }, about).warnings).toContain(
      "The book has 2 BTC within your slippage. The rest is cancelled.",
    );
    // By the last trade nothing would fill.
    const last = { ...about, market: { ...fair, priceReference: "last_trade" } as const };
    expect(of({ type: "market", amount: "1" }, last).warnings).toEqual([
      "The book has 0 BTC within your slippage. The rest is cancelled.",
    ]);
    const none = { ...about, market: { ...fair, referencePrice: null } };
    expect(of({ type: "market", amount: "1" }, none).blocked).toBe(
      "There is no fair price yet: place a limit order.",
    );
  });

  it("has its worst price at a tick that is within the slippage", () => {
    const held = (changes: Partial<Draft>) =>
      scaledText(of({ type: "market", amount: "1", ...changes }).estimate?.held ?? 0n);
    // 100.7 is no price of the market, but 100.5 is; with 25 bps.
    expect(held({ slippage: "0.7" })).toBe("100.75125");
    // 98.6 is none either: 98.5 would be beyond the slippage, so 99 is the worst price.
    const about = { market: { ...market, notionalMin: "98.8" } };
    expect(of({ type: "market", side: "sell", amount: "1", slippage: "1.4" }, about).blocked).toBeNull();
  });

  it("is worth what its quantity is at the reference price, as the exchange counts", () => {
    const about = { market: { ...market, notionalMax: "500", notionalMin: "100" }, available: null };
    // At worst 5 × 105, but the exchange counts 5 × 100.
    expect(of({ type: "market", amount: "5", slippage: "5" }, about).blocked).toBeNull();
    expect(of({ type: "market", amount: "5.001", slippage: "5" }, about).blocked).toBe(
      "An order is worth at most 500 USD.",
    );
    expect(of({ type: "market", amount: "0.99", slippage: "5" }, about).blocked).toBe(
      "An order is worth at least 100 USD.",
    );
    expect(of({ type: "market", side: "sell", amount: "1.04", slippage: "5" }, about).blocked).toBe(
      "An order is worth at least 100 USD.",
    );
    expect(of({ type: "market", unit: "quote", amount: "500.5" }, about).blocked).toBe(
      "An order is worth at most 500 USD.",
    );
  });

  it("goes no further than the market lets it", () => {
    const about = { market: { ...market, slippageBpsMax: 500, deviationBpsMax: 2000 } };
    expect(of({ type: "market", slippage: "5" }, about).faults).toEqual({});
    expect(of({ type: "market", slippage: "5.01" }, about).faults).toEqual({
      slippage: "At most 5 % on BTC-USD.",
    });
    // A limit order has no slippage.
    expect(of({ slippage: "5.01" }, about).faults).toEqual({});
  });

  it("says of a limit far from the reference price that it is refused, and by which price", () => {
    const bounded = { ...market, deviationBpsMax: 2000 };
    const fair = { ...bounded, priceReference: "fair_price", referencePrice: "104" } as const;
    expect(of({ price: "83" }, { market: fair })).toMatchObject({
      blocked: "The price is more than 20 % from the fair price, 104.",
      warnings: [],
    });
    expect(of({ price: "83.5" }, { market: fair }).blocked).toBeNull();
    // Whether the last trade is recent enough to count, the exchange alone knows.
    const far = of({ price: "79.5" }, { market: bounded });
    expect(far.warnings).toEqual([
      "The price is more than 20 % from the last price, 100. The exchange refuses it, unless that trade is old.",
    ]);
    expect(far.blocked).toBeNull();
    expect(of({ price: "80" }, { market: bounded }).warnings).toEqual([]);
    expect(of({ price: "79.5" }, { market: bounded, lastPrice: null }).warnings).toEqual([]);
  });

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
    // 1,000 with 25 bps on top, to the tick.
    expect(part({ type: "market", unit: "quote" })).toBe("997.5");
  });

  it("count by the price that the exchange counts by", () => {
    const fair = { ...market, priceReference: "fair_price", referencePrice: "104" } as const;
    const about = { ...facts, market: fair };
    // 104 and 1 % are 105.04, to the tick 105.
    expect(partOfFunds({ ...draft, type: "market" }, about, 100n)).toBe("9.5");
    expect(of({ type: "market", amount: "9.5" }, about).blocked).toBeNull();
    expect(of({ type: "market", amount: "9.501" }, about).blocked).toMatch("Not enough USD");
  });
});

describe("arrow keys", () => {
  it("go by one step and stay above zero", () => {
    expect(stepped("100.2", "0.5", 1n)).toBe("100.5");
    expect(stepped("", "0.5", 1n)).toBe("0.5");
    expect(stepped("0.5", "0.5", -1n)).toBe("0.5");
  });
});
