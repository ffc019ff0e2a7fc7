import { describe, expect, it } from "vitest";
import type { Verification } from "../account/queries.ts";
import type { Network } from "../api/queries.ts";
import type { SavedAddress } from "./queries.ts";
import { arrivingOf, type Draft, faultOf, mostOf } from "./review.ts";

const network: Network = {
  asset: "SOL",
  network: "solana",
  fee: "0.01",
  minimum: "0.1",
  places: 9,
  fiat: false,
  depositsEnabled: true,
  withdrawalsEnabled: true,
  notice: "",
};
const address = { availableAt: "2026-01-01T00:00:00.000Z" } as SavedAddress;
const verification = { level: "basic", dailyWithdrawalLimit: "10000" } as Verification;
const draft = (changes: Partial<Draft> = {}): Draft => ({
  network,
  address,
  amount: "1",
  free: "2.5",
  verification,
  now: Date.parse("2026-02-01T00:00:00Z"),
  ...changes,
});

describe("the withdrawal form", () => {
  it("lets a good withdrawal pass", () => {
    expect(faultOf(draft())).toBeNull();
    expect(faultOf(draft({ free: null, verification: undefined }))).toBeNull();
  });

  it.each([
    [
      { verification: { ...verification, level: "none", dailyWithdrawalLimit: "0" } },
      /Verification is needed/,
    ],
    [{ verification: { ...verification, level: "verified", dailyWithdrawalLimit: "0" } }, /switched off/],
    [{ network: undefined }, /Choose what/],
    [
      { network: { ...network, withdrawalsEnabled: false, notice: "Back at noon" } },
      /^Withdrawals of SOL over solana are paused\. Back at noon$/,
    ],
    [{ address: undefined }, /Choose where/],
    [{ address: { ...address, availableAt: "2026-02-01T00:00:01.000Z" } }, /still waits/],
    [{ amount: "" }, /Enter an amount/],
    [{ amount: "1e3" }, /digits with a point/],
    [{ amount: "0" }, /more than zero/],
    [{ amount: "1.0000000001" }, /at most 9 digits/],
    [{ amount: "0.09" }, /least amount is 0.1 SOL/],
    [{ network: { ...network, minimum: "0" }, amount: "0.01" }, /more than the fee of 0.01 SOL/],
    [{ amount: "2.500000001" }, /Not enough SOL: 2.5 is free/],
  ] as [Partial<Draft>, RegExp][])("says what stands in the way: %j", (changes, words) => {
    expect(faultOf(draft(changes))).toMatch(words);
  });

  it("counts exactly what arrives and what can be taken", () => {
    expect(arrivingOf("1.000000001", network)).toBe("0.990000001");
    expect(arrivingOf("0.01", network)).toBeNull();
    expect(arrivingOf("x", network)).toBeNull();
    expect(mostOf("2.123456789987", 9)).toBe("2.123456789");
    expect(mostOf("2.000", 2)).toBe("2");
  });
});
