import { describe, expect, it } from "vitest";
import { scaledText, toScaled } from "#lib/scaled.ts";
import {
  discountBps,
  type Plan,
  priceOf,
  stakingBalanceOf,
  type Subscription,
  upgradeCost,
} from "./plans.ts";

const PLAN: Plan = {
  id: "pro",
  name: "Pro",
  rank: 2,
  intervalMonths: 1,
  active: true,
  prices: { USD: "30", USDT: "30" },
  paymentToken: "USDT",
  features: [],
  limits: {},
};

const SUBSCRIPTION: Subscription = {
  id: "s",
  planId: "basic",
  status: "active",
  cancelAtPeriodEnd: false,
  asset: "USD",
  price: "9",
  credit: "0",
  periodStart: "2026-11-01",
  periodEnd: "2026-12-01",
  nextChargeOn: "2026-12-01",
  pastDueSince: null,
  accessUntil: "2026-12-01",
  createdAt: "2026-11-01T08:00:00Z",
};

describe("the discount of the payment token", () => {
  it.each([
    ["0", 1000],
    ["99.99", 1000],
    ["100", 1001],
    ["50000", 1500],
    ["100000", 2000],
    ["999999999999999", 2000],
  ])("with a stake of %s is %d basis points", (stake, expected) => expect(discountBps(stake)).toBe(expected));

  it("lowers prices in that token alone", () => {
    expect(priceOf(PLAN, "USDT", 1500)).toBe(toScaled("25.5"));
    expect(priceOf(PLAN, "USD", 1500)).toBe(toScaled("30"));
    expect(priceOf(PLAN, "BTC", 1500)).toBeNull();
  });
});

describe("the stake that an access token states", () => {
  const token = (claims: unknown) => `x.${btoa(JSON.stringify(claims)).replace(/=+$/, "")}.x`;
  it("is read, and is none where the token says nothing of the kind", () => {
    expect(stakingBalanceOf(token({ stakingBalance: "123.5" }))).toBe("123.5");
    for (const bad of [
      token({}),
      token({ stakingBalance: 5 }),
      token({ stakingBalance: "much" }),
      "",
      "a.b.c",
    ])
      expect(stakingBalanceOf(bad)).toBe("0");
  });
});

describe("the cost of an upgrade", () => {
  const shown = (subscription: Partial<Subscription>, now: string) => {
    const cost = upgradeCost({ ...SUBSCRIPTION, ...subscription }, PLAN, 1000, Date.parse(now));
    return cost && [cost.price, cost.credit, cost.due, cost.kept].map(scaledText);
  };

  it("credits the days from today to the end of the paid period", () => {
    expect(shown({}, "2026-11-01T23:59:00Z")).toEqual(["30", "9", "21", "0"]);
    expect(shown({}, "2026-11-16T12:00:00Z")).toEqual(["30", "4.5", "25.5", "0"]);
    expect(shown({}, "2026-11-30T00:00:00Z")).toEqual(["30", "0.3", "29.7", "0"]);
  });

  it("keeps credit that is more than the price", () => {
    expect(shown({ credit: "40" }, "2026-11-16T12:00:00Z")).toEqual(["30", "44.5", "0", "14.5"]);
  });

  it("has the discount of the payment token", () => {
    expect(shown({ asset: "USDT", price: "8.1" }, "2026-11-16T12:00:00Z")).toEqual([
      "27",
      "4.05",
      "22.95",
      "0",
    ]);
  });
});
