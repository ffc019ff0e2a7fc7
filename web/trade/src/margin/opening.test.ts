import { describe, expect, it } from "vitest";
import { toScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import { type OpeningDraft, type OpeningFacts, partOfMargin, reviewOpening } from "./opening.ts";
import { priceOf } from "./testPrices.ts";
import type { MarginAccount, MarginPosition } from "./queries.ts";

const market: Market = {
  symbol: "BTC-USD",
  baseAsset: "BTC",
  quoteAsset: "USD",
  active: true,
  tickSize: "0.01",
  lotSize: "0.001",
  takerFee: 25,
  makerFee: 15,
  baseScaleK: 3,
  quoteScaleK: 2,
  quantityMin: "0.01",
  quantityMax: "1000",
  notionalMin: "5",
  notionalMax: "1000000",
  deviationBpsMax: null,
  slippageBpsMax: null,
  priceReference: "last_trade",
  rules: "specification",
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
  referencePrice: null,
};
const account: MarginAccount = {
  marginAccountId: "margin:alice",
  userId: "alice",
  status: "active",
  valuationAsset: "USD",
  marginLevel: null,
  equity: "400",
  debt: "0",
  isAtRisk: false,
  balances: [{ asset: "USD", total: "400", available: "400", borrowed: "0", interest: "0", isOffered: true }],
  positions: [],
  loans: [],
  prices: [priceOf("USD", "1"), priceOf("BTC", "100")],
  borrowRate: "0.0365",
};
const facts: OpeningFacts = { market, account };
const draft: OpeningDraft = { side: "buy", quantity: "8", leverage: "4" };

describe("estimate", () => {
  it("of a long borrows what the own margin does not pay", () => {
    const { estimate, blocked, body } = reviewOpening(draft, facts);
    expect(blocked).toBeNull();
    expect(body).toEqual({ symbol: "BTC-USD", side: "buy", quantity: "8", leverage: "4" });
    expect(estimate).toMatchObject({
      notional: toScaled("800"),
      required: toScaled("200"),
      paid: toScaled("200"),
      borrowedAsset: "USD",
      borrowed: toScaled("600"),
      dailyInterest: toScaled("0.06"),
      // 5 % of the debt: at a level of 105 % the rest is liquidated.
      maintenance: toScaled("30"),
    });
    // 200 USD are left, and 8 BTC bought: 1,000 against 600.
    expect(estimate?.level).toBe(1666666666666666667n);
    // 1.05 · 600 − 200 = 8 · 53.75
    expect(estimate?.liquidationPrice).toBe(toScaled("53.75"));
  });

  it("of a short borrows the whole quantity", () => {
    const { estimate } = reviewOpening({ ...draft, side: "sell" }, facts);
    expect(estimate).toMatchObject({ borrowedAsset: "BTC", borrowed: toScaled("8"), paid: 0n });
    expect(estimate?.level).toBe(toScaled("1.5"));
  });

  it("borrows more where the quote asset is not held, and nothing at a leverage of one", () => {
    const collateral = {
      asset: "BTC",
      total: "4",
      available: "4",
      borrowed: "0",
      interest: "0",
      isOffered: true,
    };
    const inBitcoin = { ...account, balances: [collateral] };
    expect(reviewOpening(draft, { ...facts, account: inBitcoin }).estimate?.borrowed).toBe(toScaled("800"));
    const own = reviewOpening({ ...draft, quantity: "4", leverage: "1" }, facts);
    expect(own.estimate?.borrowed).toBe(0n);
    expect(own.estimate?.level).toBeNull();
  });
});

describe("why it cannot be opened", () => {
  const blockedBy = (changes: Partial<OpeningDraft>, others: Partial<OpeningFacts> = {}) =>
    reviewOpening({ ...draft, ...changes }, { ...facts, ...others }).blocked;

  it.each([
    [{ quantity: "" }, "Enter a quantity."],
    [{ quantity: "0.005" }, "The least quantity is 0.01 BTC."],
    [{ quantity: "0.01" }, "A position is worth at least 5 USD."],
    [
      { quantity: "20" },
      "It needs 500.00 USD of margin, and 400.00 USD is available. Lower the quantity, or move collateral in.",
    ],
  ])("says %o", (changes, reason) => {
    expect(blockedBy(changes)).toBe(reason);
  });

  it.each([
    ["quantity", "much", "A quantity is digits with a point, such as 0.25."],
    ["quantity", "1.0001", "Quantities go in steps of 0.001 BTC."],
    ["leverage", "0.5", "The leverage is a number from 1 to 10."],
    ["leverage", "11", "The leverage is a number from 1 to 10."],
    ["leverage", "2.345", "The leverage has at most two digits after the point."],
  ])("marks the %s %s", (field, value, fault) => {
    const found = reviewOpening({ ...draft, [field]: value }, facts);
    expect(found.faults).toEqual({ [field]: fault });
    expect(found.blocked).toBe("Correct the marked field.");
    expect(found.body).toBeNull();
  });

  it("counts the margin of the positions that have not ended", () => {
    const position = { status: "open", requiredMargin: "300" } as MarginPosition;
    const positions = [position, { ...position, status: "closed" }];
    expect(blockedBy({}, { account: { ...account, positions } })).toContain("100.00 USD is available");
  });

  it("waits for prices", () => {
    expect(blockedBy({}, { account: { ...account, prices: [] } })).toBe("BTC has no fair price in USD yet.");
    const priceless = {
      asset: "SOL",
      total: "1",
      available: "1",
      borrowed: "0",
      interest: "0",
      isOffered: true,
    };
    const balances = [...account.balances, priceless];
    expect(blockedBy({}, { account: { ...account, balances } })).toContain("has no price yet");
  });

  it("names a price that is not sure, and what is waited for", () => {
    const disputed = { ...priceOf("BTC", "100"), state: "disputed" as const, reason: "its sources differ" };
    const prices = [priceOf("USD", "1"), disputed];
    expect(blockedBy({}, { account: { ...account, prices } })).toBe(
      "Nothing can be opened: the price of BTC is disputed: its sources differ.",
    );
  });

  it("names a market that is too thin, for the loan and for the position", () => {
    const short = { ...priceOf("BTC", "100"), borrowable: "7.5" };
    expect(
      blockedBy({ side: "sell" }, { account: { ...account, prices: [priceOf("USD", "1"), short] } }),
    ).toBe("The market is too thin: 7.5 BTC can be borrowed now. Lower the quantity.");
    const long = { ...priceOf("BTC", "100"), sellable: "0" };
    expect(blockedBy({}, { account: { ...account, prices: [priceOf("USD", "1"), long] } })).toContain(
      "too thin for a position of this size",
    );
  });

  it("names a liquidation, of now and of what would come", () => {
    expect(blockedBy({}, { account: { ...account, status: "liquidating" } })).toContain("being liquidated");
    // A loan without a position has taken the level to 106.67 % already.
    const usd = {
      asset: "USD",
      total: "3200",
      available: "3200",
      borrowed: "3000",
      interest: "0",
      isOffered: true,
    };
    const indebted = { ...account, balances: [usd] };
    expect(blockedBy({ quantity: "20", leverage: "10" }, { account: indebted })).toBe(
      "The level would be 104.17 %, and the account would be liquidated at once.",
    );
  });
});

describe("part of the margin", () => {
  const overdrawn = { status: "open", requiredMargin: "401" } as MarginPosition;

  it("is what it carries at the leverage, in whole lots", () => {
    expect(partOfMargin(draft, facts, 100n)).toBe("16");
    expect(partOfMargin({ ...draft, leverage: "3.33" }, facts, 25n)).toBe("3.33");
    expect(partOfMargin(draft, { ...facts, account: { ...account, prices: [] } }, 25n)).toBeNull();
    expect(partOfMargin(draft, { ...facts, account: { ...account, positions: [overdrawn] } }, 25n)).toBe("0");
  });
});
