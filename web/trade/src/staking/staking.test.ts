import { describe, expect, it } from "vitest";
import type { Product, Stake } from "./queries.ts";
import { kindOf, lockOf, stakeFaultOf, unstakeFaultOf, wayBackOf } from "./staking.ts";

const flexible: Product = {
  id: "usdt-flexible",
  asset: "USDT",
  type: "flexible",
  apr: "0.04",
  lockDays: 0,
  unbondingDays: 0,
  minimum: "1",
  maximum: "1000",
  remaining: "500",
  earlyRedemption: "allowed",
};
const locked: Product = {
  ...flexible,
  type: "locked",
  lockDays: 30,
  unbondingDays: 3,
  earlyRedemption: "forfeits_rewards",
};
const stake = (changes: Partial<Stake> = {}) =>
  ({ asset: "USDT", type: "flexible", amount: "10", status: "active", ...changes }) as Stake;

describe("staking", () => {
  it("writes products in words", () => {
    expect([kindOf(flexible), kindOf(locked)]).toEqual(["Flexible", "Locked for 30 days"]);
    expect(wayBackOf(flexible)).toBe("Take it back at any time. It arrives at once.");
    expect(wayBackOf(locked)).toMatch(/loses its rewards. It arrives 3 days later/);
    expect(wayBackOf({ ...locked, earlyRedemption: "not_allowed" })).toMatch(/cannot be taken back/);
  });

  it("says of a stake what its product said when it was made", () => {
    const made = stake({ type: "locked", earlyRedemption: "not_allowed", unbondingDays: 2 });
    expect(wayBackOf(made)).toMatch(/cannot be taken back before the end. It arrives 2 days later/);
  });

  it.each([
    ["", /Enter/],
    ["1e2", /digits/],
    ["0", /more than zero/],
    ["0.5", /least amount is 1 USDT/],
    ["1001", /largest amount is 1,000/],
    ["501", /room for 500/],
    ["101", /Not enough USDT: 100 is free/],
  ])("says why %j cannot be staked", (amount, words) => {
    expect(stakeFaultOf(flexible, amount, "100")).toMatch(words);
  });

  it("lets good amounts pass", () => {
    expect(stakeFaultOf(flexible, "100", "100")).toBeNull();
    expect(stakeFaultOf(flexible, "100", null)).toBeNull();
    expect(unstakeFaultOf(stake(), "10", flexible)).toBeNull();
    expect(unstakeFaultOf(stake(), "10.1", flexible)).toMatch(/At most 10 USDT/);
  });

  it("leaves the least amount of a stake, or nothing", () => {
    expect(unstakeFaultOf(stake(), "9", flexible)).toBeNull();
    expect(unstakeFaultOf(stake(), "9.000001", flexible)).toMatch(/all of it back, or leave at least 1 USDT/);
    expect(unstakeFaultOf(stake(), "9.999999", undefined)).toBeNull();
  });

  it("says why a stake cannot be taken back", () => {
    expect(lockOf(stake())).toBeUndefined();
    expect(lockOf(stake({ type: "locked", earlyRedemption: "forfeits_rewards" }))).toBeUndefined();
    expect(lockOf(stake({ type: "locked", earlyRedemption: "not_allowed" }))).toMatch(/locked/);
    expect(lockOf(stake({ status: "unbonding" }))).toMatch(/on its way/);
    expect(lockOf(stake({ status: "pending" }))).toMatch(/not active/);
  });
});
