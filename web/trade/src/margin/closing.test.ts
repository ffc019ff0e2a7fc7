import { describe, expect, it } from "vitest";
import { toScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import { closingOf, readPart, whyNotClosed } from "./closing.ts";
import type { MarginAccount, MarginLoan, MarginPosition } from "./queries.ts";
import { priceOf } from "./testPrices.ts";

const market = { lotSize: "0.01", quantityMin: "0.1" } as Market;
const long = { symbol: "BTC-USD", side: "buy", quantity: "4", loanId: "one" } as MarginPosition;
const prices = [priceOf("USD", "1"), priceOf("BTC", "100")];
const part = (position: MarginPosition, quantity: string) => ({ position, quantity: toScaled(quantity) });
const account = (btc: [string, string], usd: [string, string], ...loans: MarginLoan[]) =>
  ({
    prices,
    loans,
    balances: [
      { asset: "BTC", total: btc[0], available: btc[0], borrowed: btc[1], interest: "0", isOffered: true },
      { asset: "USD", total: usd[0], available: usd[0], borrowed: usd[1], interest: "0", isOffered: true },
    ],
  }) as unknown as MarginAccount;

describe("a part", () => {
  it.each([
    ["", "enter a quantity"],
    ["x", "write the quantity as digits with a point, more than zero"],
    ["0", "write the quantity as digits with a point, more than zero"],
    ["4.01", "lower the quantity: 4 are open"],
    ["1.001", "write the quantity in steps of 0.01"],
    ["0.09", "raise the quantity: an order has at least 0.1"],
    ["3.91", "close all of it, or leave at least 0.1, the least quantity of an order"],
  ])("of %j cannot be closed: %s", (text, fault) => {
    expect(readPart(text, long, market)).toBe(fault);
  });

  it.each(["0.1", "3.9", "4"])("of %s can", (text) => {
    expect(readPart(text, long, market)).toBe(toScaled(text));
  });
});

describe("closing", () => {
  const loan = { loanId: "one", asset: "USD", outstanding: "300", interest: "0" } as MarginLoan;

  it("a part of a long repays from what it brings, less the fee", () => {
    const closing = closingOf([part(long, "2")], account(["4", "0"], ["100", "300"], loan), 100);
    // 200 less 2 are repaid; 2 BTC and 100 USD secure the other 102.
    expect(closing).toEqual({
      left: toScaled("2"),
      owed: toScaled("102"),
      level: 2941176470588235295n,
      liquidationPrice: toScaled("3.55"),
    });
  });

  it("the whole long repays all of its loan from what is free", () => {
    const closing = closingOf([part(long, "4")], account(["4", "0"], ["100", "300"], loan), 0);
    expect(closing).toEqual({ left: 0n, owed: 0n, level: null, liquidationPrice: null });
    const poor = closingOf([part(long, "4")], account(["4", "0"], ["0", "300"], loan), 5000);
    expect(poor?.owed).toBe(toScaled("100"));
  });

  it("a part of a short gives back what it buys", () => {
    const short = { ...long, side: "sell", quantity: "5" };
    const borrowed = { loanId: "one", asset: "BTC", outstanding: "5", interest: "0" } as MarginLoan;
    const closing = closingOf([part(short, "2")], account(["0", "5"], ["1500", "0"], borrowed), 100);
    expect(closing).toEqual({
      left: toScaled("3"),
      owed: toScaled("3"),
      // 1,500 less 200 and the fee of 2, for a debt of 3 BTC.
      level: 4326666666666666667n,
      liquidationPrice: 412063492063492063493n,
    });
  });

  it("of two longs lets the second repay from what the first one left", () => {
    const second = { ...long, quantity: "1", loanId: "two" };
    const loans = [loan, { ...loan, loanId: "two", outstanding: "150" }];
    const both = [part(long, "4"), part(second, "1")];
    const closing = closingOf(both, account(["5", "0"], ["0", "450"], ...loans), 0);
    // 400 repay the first loan; the other 100 and the 100 of the second position repay the second one.
    expect(closing).toEqual({ left: 0n, owed: 0n, level: null, liquidationPrice: null });
    const poor = closingOf(both, account(["5", "0"], ["0", "450"], ...loans), 2000);
    // 320 and 80: 20 are left for the second loan, and 80 come.
    expect(poor?.owed).toBe(toScaled("50"));
  });

  it("is not known without a price", () => {
    const unpriced = { ...account(["4", "0"], ["0", "0"], loan), prices: [] };
    expect(closingOf([part(long, "1")], unpriced, 0)).toBeNull();
  });
});

it.each([
  ["active", "open", null],
  ["active", "opening", "It is being opened"],
  ["active", "closing", "It is being closed"],
  ["active", "liquidating", "It is being liquidated"],
  ["active", "closed", "It has ended already"],
  // Nothing of an account that is being liquidated can be acted on.
  ["liquidating", "open", "The account is being liquidated"],
])("in an account that is %s a position that is %s cannot be closed: %s", (status, state, why) => {
  expect(whyNotClosed({ ...long, status: state }, { status } as MarginAccount)).toBe(why);
});
