import { describe, expect, it } from "vitest";
import { toScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import { closingOf, readPart, whyNotClosed } from "./closing.ts";
import type { MarginAccount, MarginLoan, MarginPosition } from "./queries.ts";
import { priceOf } from "./testPrices.ts";

const market = { lotSize: "0.01", quantityMin: "0.1" } as Market;
const long = { symbol: "BTC-USD", side: "buy", quantity: "4" } as MarginPosition;
const prices = [priceOf("USD", "1"), priceOf("BTC", "100")];
const account = (btc: [string, string], usd: [string, string]) =>
  ({
    prices,
    balances: [
      { asset: "BTC", total: btc[0], available: btc[0], borrowed: btc[1], interest: "0" },
      { asset: "USD", total: usd[0], available: usd[0], borrowed: usd[1], interest: "0" },
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
  const loan = { asset: "USD", outstanding: "300", interest: "0" } as MarginLoan;

  it("a part of a long repays from what it brings, less the fee", () => {
    const closing = closingOf(toScaled("2"), long, loan, account(["4", "0"], ["100", "300"]), 100);
    // 200 less 2 are repaid; 2 BTC and 100 USD secure the other 102.
    expect(closing).toEqual({
      left: toScaled("2"),
      owed: toScaled("102"),
      level: 2941176470588235295n,
      liquidationPrice: toScaled("3.55"),
    });
  });

  it("the whole long repays all of its loan from what is free", () => {
    const closing = closingOf(toScaled("4"), long, loan, account(["4", "0"], ["100", "300"]), 0);
    expect(closing).toEqual({ left: 0n, owed: 0n, level: null, liquidationPrice: null });
    const poor = closingOf(toScaled("4"), long, loan, account(["4", "0"], ["0", "300"]), 5000);
    expect(poor?.owed).toBe(toScaled("100"));
  });

  it("a part of a short gives back what it buys", () => {
    const short = { ...long, side: "sell", quantity: "5" };
    const borrowed = { asset: "BTC", outstanding: "5", interest: "0" } as MarginLoan;
    const closing = closingOf(toScaled("2"), short, borrowed, account(["0", "5"], ["1500", "0"]), 100);
    expect(closing).toEqual({
      left: toScaled("3"),
      owed: toScaled("3"),
      // 1,500 less 200 and the fee of 2, for a debt of 3 BTC.
      level: 4326666666666666667n,
      liquidationPrice: 412063492063492063493n,
    });
  });

  it("is not known without a price", () => {
    expect(
      closingOf(toScaled("1"), long, loan, { ...account(["4", "0"], ["0", "0"]), prices: [] }, 0),
    ).toBeNull();
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
