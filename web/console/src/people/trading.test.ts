import { describe, expect, it } from "vitest";
import {
  accountName,
  accountQuery,
  keptFromCancel,
  ownerOf,
  STILL_OPEN,
  tradingQuery,
  usersToCancel,
} from "./trading.ts";

describe("an account", () => {
  it("is its user's, also one for margin, unless it is the house's", () => {
    expect(["Ada1", "margin:Ada1", "margin:Ada1:2", "house:fees"].map(ownerOf)).toEqual([
      "Ada1",
      "Ada1",
      "Ada1",
      null,
    ]);
  });

  it("is called what it is for, and by its number after the first was closed", () => {
    expect(["Ada1", "margin:Ada1", "margin:Ada1:2"].map(accountName)).toEqual(["Spot", "Margin", "Margin 2"]);
  });

  it("narrows a list only if it is one of the user's", () => {
    const query = (account: string) =>
      accountQuery((name) => (name === "account" ? account : ""), ["Ada1", "margin:Ada1"]);
    expect(query("margin:Ada1")).toEqual({ account: "margin:Ada1" });
    expect(query("margin:Eve1")).toEqual({});
    expect(query("")).toEqual({});
  });
});

describe("an order", () => {
  it("can be cancelled while it is open and a user's own", () => {
    const kept = (status: string, userId = "Ada1") => keptFromCancel({ status, userId } as never);
    expect(STILL_OPEN.split(",").map((status) => kept(status))).toEqual([undefined, undefined, undefined]);
    for (const status of ["filled", "cancelled", "rejected"]) expect(kept(status)).toMatch(/ended/);
    expect(kept("open", "margin:Ada1")).toMatch(/margin/);
    expect(kept("open", "house:fees")).toMatch(/house/);
  });
});

describe("orders that are chosen together", () => {
  const of = (...accounts: string[]) => usersToCancel(accounts.map((userId) => ({ userId })));

  it("have each user once, and leave out accounts that are no user's own", () => {
    expect(of("Ada1", "margin:Ada1", "Bob2", "house:fees", "Ada1", "margin:Bob2:2")).toEqual({
      users: ["Ada1", "Bob2"],
      leftOut: [
        { reason: "Closing the position cancels orders of a margin account.", count: 2 },
        { reason: "The order is the house's own.", count: 1 },
      ],
    });
    expect(of("Ada1").leftOut).toEqual([]);
    expect(of("margin:Ada1").users).toEqual([]);
  });
});

describe("the filters of an address", () => {
  const query = (search: string) => tradingQuery((name) => new URLSearchParams(search).get(name) ?? "");

  it("are what the edge takes", () => {
    expect(query("")).toEqual({});
    expect(query("user=Ada1&symbol=BTC-USD&side=buy&from=2026-05-01&to=2026-05-02")).toEqual({
      userId: "Ada1",
      symbol: "BTC-USD",
      side: "buy",
      from: "2026-05-01T00:00:00Z",
      to: "2026-05-03T00:00:00.000Z",
    });
  });

  it("leave out a side that there is not", () => {
    expect(query("side=both&from=yesterday")).toEqual({});
  });
});
