import { describe, expect, it } from "vitest";
import { toScaled } from "#lib/scaled.ts";
import { marksOf } from "./figures.ts";
import {
  closeFault,
  collateralFault,
  levelAfter,
  mostBorrowed,
  mostOut,
  readAmount,
  repayFault,
  type Waiting,
} from "./moves.ts";
import { priceOf } from "./testPrices.ts";
import type { MarginAccount, MarginLoan, MarginPosition } from "./queries.ts";

const marks = marksOf({ prices: [priceOf("USD", "1"), priceOf("BTC", "100")] });
const usd = (total: string, borrowed = "0") => ({
  asset: "USD",
  total,
  available: total,
  borrowed,
  interest: "0",
  isOffered: true,
});
const unpriced = { why: "unpriced", reason: "wait until every asset of the account has a price" };
const account = (changes: Partial<MarginAccount>) =>
  ({ status: "active", balances: [], positions: [], loans: [], ...changes }) as unknown as MarginAccount;

describe("a coin that margin does not offer", () => {
  const doge = { ...usd("600000"), asset: "DOGE", available: "500000", isOffered: false };
  const indebted = account({ balances: [usd("400", "200"), doge] });

  it("changes no level and leaves as far as it is free", () => {
    expect(mostOut(indebted, "DOGE", marks)).toBe(toScaled("500000"));
    expect(levelAfter(indebted, marks, "DOGE", { held: -toScaled("500000") })).toBe(toScaled("2"));
  });

  it("keeps no other asset in the account, and secures none", () => {
    const alone = account({ balances: [usd("400", "200")] });
    expect(mostOut(indebted, "USD", marks)).toBe(mostOut(alone, "USD", marks));
    expect(mostBorrowed(indebted, "USD", marks)).toBe(mostBorrowed(alone, "USD", marks));
    expect(typeof mostOut(indebted, "USD", marks)).toBe("bigint");
  });

  it("is still in the way of closing the account", () => {
    expect(closeFault(account({ balances: [doge] }))).toBe("it holds DOGE");
  });
});

describe("what can be moved out", () => {
  it("is all that is free without a debt, prices or not", () => {
    expect(mostOut(account({ balances: [usd("400")] }), "USD", new Map())).toBe(toScaled("400"));
  });

  it("leaves the level above the warning", () => {
    const most = mostOut(account({ balances: [usd("400", "200")] }), "USD", marks) as bigint;
    expect(most).toBeLessThan(toScaled("100"));
    expect(most).toBeGreaterThan(toScaled("99.99"));
    const indebted = account({ balances: [usd("400", "200")] });
    expect(levelAfter(indebted, marks, "USD", { held: -most })).toBeGreaterThan(toScaled("1.5"));
  });

  it("leaves the margin of the open positions", () => {
    const positions = [{ status: "open", requiredMargin: "190" } as MarginPosition];
    expect(mostOut(account({ balances: [usd("400", "200")], positions }), "USD", marks)).toBe(toScaled("10"));
  });

  it("is all of what has no price, if the rest carries the debt", () => {
    const priceless = { ...usd("5"), asset: "SOL" };
    expect(mostOut(account({ balances: [usd("400", "200"), priceless] }), "SOL", marks)).toBe(toScaled("5"));
    expect(mostOut(account({ balances: [usd("280", "200"), priceless] }), "SOL", marks)).toBe(0n);
    expect(mostOut(account({ balances: [usd("400", "200"), priceless] }), "USD", marks)).toEqual(unpriced);
  });

  it("is nothing below the warning, and not known without prices", () => {
    expect(mostOut(account({ balances: [usd("280", "200")] }), "USD", marks)).toBe(0n);
    expect(mostOut(account({ balances: [usd("280", "200")] }), "USD", new Map())).toEqual(unpriced);
  });
});

it("a debt may reach ten times the equity", () => {
  expect(mostBorrowed(account({ balances: [usd("100")] }), "USD", marks)).toBe(toScaled("1000"));
  expect(mostBorrowed(account({ balances: [usd("300", "200")] }), "BTC", marks)).toBe(toScaled("8"));
  expect(mostBorrowed(account({ balances: [usd("100", "200")] }), "USD", marks)).toBe(0n);
  expect(mostBorrowed(account({ balances: [usd("100")] }), "SOL", marks)).toEqual(unpriced);
});

it("at a price that is not sure nothing is lent or moved out, and the reason is told", () => {
  const disputed = { ...priceOf("BTC", "100"), state: "disputed" as const, reason: "its sources differ" };
  const unsureMarks = marksOf({ prices: [priceOf("USD", "1"), disputed] });
  const waiting = { why: "unsure", reason: "the price of BTC is disputed: its sources differ" };
  const indebted = account({ balances: [usd("400", "200"), { ...usd("1"), asset: "BTC" }] });
  expect(mostOut(indebted, "USD", unsureMarks)).toEqual(waiting);
  expect(mostBorrowed(indebted, "USD", unsureMarks)).toEqual(waiting);
  const facts = { asset: "USD", direction: "out" as const, free: waiting as Waiting, places: 2 };
  expect(collateralFault(toScaled("5"), facts)).toBe(waiting.reason);
});

describe("amounts", () => {
  it("say what they lack", () => {
    expect(readAmount("", 2)).toBe("enter an amount");
    expect(readAmount("0", 2)).toContain("more than zero");
    expect(readAmount("1.234", 2)).toBe("write at most 2 digits after the point");
    expect(readAmount("1.2300", 2)).toBe(toScaled("1.23"));
  });

  it("of collateral are bounded by what can be moved", () => {
    const facts = { asset: "USD", direction: "in" as const, free: toScaled("5"), places: 2 };
    expect(collateralFault(toScaled("5"), facts)).toBeNull();
    expect(collateralFault(toScaled("6"), facts)).toBe("lower the amount: 5 USD can be moved in");
    expect(collateralFault(toScaled("5"), { ...facts, asset: "" })).toBe("choose an asset");
    expect(collateralFault(toScaled("5"), { ...facts, free: null })).toBe("wait for your balances");
  });

  it("of repayments are bounded by what is free, and by the debt", () => {
    const facts = { asset: "USD", owed: toScaled("50"), free: toScaled("20") };
    expect(repayFault(null, facts)).toContain("repay a part");
    expect(repayFault(toScaled("20"), facts)).toBeNull();
    expect(repayFault(toScaled("21"), facts)).toContain("lower the amount");
    expect(repayFault(toScaled("99"), { ...facts, free: toScaled("50") })).toBeNull();
  });
});

it("an account is closed only when it is empty", () => {
  const position = { status: "opening" } as MarginPosition;
  const loan = { status: "active" } as MarginLoan;
  expect(closeFault(account({}))).toBeNull();
  expect(closeFault(account({ positions: [position], loans: [loan] }))).toBe("it has an open position");
  expect(closeFault(account({ loans: [loan, loan] }))).toBe("it has 2 loans");
  expect(closeFault(account({ balances: [usd("0.000001")] }))).toBe("it holds USD");
  expect(closeFault(account({ status: "liquidating" }))).toBe("it is being liquidated");
});
