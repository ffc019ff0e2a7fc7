import { describe, expect, it } from "vitest";
import type { Withdrawal } from "./queries.ts";
import { isUnderWay, stepsOf } from "./steps.ts";

const withdrawal = (status: Withdrawal["status"], others: Partial<Withdrawal> = {}) =>
  ({ status, reason: null, confirmations: 0, requiredConfirmations: 32, ...others }) as Withdrawal;

const drawn = (one: Withdrawal) => stepsOf(one).map(({ name, state }) => `${name}: ${state}`);

describe("the steps of a withdrawal", () => {
  it.each([
    ["pending_approval", "Approved", 1],
    ["approved", "Signed", 2],
    ["signing", "Signed", 2],
    ["broadcasting", "Sent", 3],
    ["confirming", "Confirmed", 4],
  ] as const)("has %s at %s", (status, name, done) => {
    const steps = stepsOf(withdrawal(status));
    expect(steps.filter(({ state }) => state === "current").map((step) => step.name)).toEqual([name]);
    expect(steps.filter(({ state }) => state === "done")).toHaveLength(done);
    expect(isUnderWay(withdrawal(status))).toBe(true);
  });

  it("counts confirmations", () => {
    const [step] = stepsOf(withdrawal("confirming", { confirmations: 3 })).filter(
      ({ state }) => state === "current",
    );
    expect(step?.note).toBe("3 of 32 confirmations");
  });

  it("is done with all when it is completed", () => {
    expect(new Set(stepsOf(withdrawal("completed")).map(({ state }) => state))).toEqual(new Set(["done"]));
    expect(isUnderWay(withdrawal("completed"))).toBe(false);
  });

  it("stops where it ended, with the reason", () => {
    const rejected = withdrawal("rejected", { reason: "not explained" });
    expect(drawn(rejected)).toEqual(["Requested: done", "Rejected: stopped", "Your funds are free: done"]);
    expect(stepsOf(rejected)[1]?.note).toBe("not explained");
    expect(stepsOf(withdrawal("cancelled"))[1]?.note).toBe("By you");
    expect(isUnderWay(rejected)).toBe(false);
  });
});
