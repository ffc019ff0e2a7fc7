import { afterEach, describe, expect, it } from "vitest";
import { showLanguage } from "#lib/language.ts";
import german from "../../languages/reasons/de.json";
import { reasonsIn } from "../api/messages.ts";
import { sayIn } from "../api/reasons.ts";
import type { Withdrawal } from "./queries.ts";
import { hasStopped, isCancellable, isUnderWay, reasonOf, stepsOf } from "./steps.ts";

const withdrawal = (status: Withdrawal["status"], others: Partial<Withdrawal> = {}) =>
  ({ status, reason: null, confirmations: 0, requiredConfirmations: 32, ...others }) as Withdrawal;

afterEach(() => {
  delete reasonsIn.de;
  showLanguage("en", {});
});

const drawn = (one: Withdrawal) => stepsOf(one).map(({ name, state }) => `${name}: ${state}`);

describe("the steps of a withdrawal", () => {
  it.each([
    [
      "pending_approval",
      ["Requested", "Waiting for approval", "Signature", "Sending", "Confirmation", "Completion"],
      1,
    ],
    ["approved", ["Requested", "Approved", "Being prepared", "Sending", "Confirmation", "Completion"], 2],
    [
      "signing",
      ["Requested", "Approved", "Waiting for signatures", "Sending", "Confirmation", "Completion"],
      2,
    ],
    ["broadcasting", ["Requested", "Approved", "Signed", "Being sent", "Confirmation", "Completion"], 3],
    ["confirming", ["Requested", "Approved", "Signed", "Sent", "Confirming", "Completion"], 4],
    ["completed", ["Requested", "Approved", "Signed", "Sent", "Confirmed", "Completed"], 6],
  ] as const)("say of %s what is true", (status, names, done) => {
    const steps = stepsOf(withdrawal(status));
    expect(steps.map(({ name }) => name)).toEqual(names);
    const states = names.map((_, at) => (at < done ? "done" : at === done ? "current" : "waiting"));
    expect(steps.map(({ state }) => state)).toEqual(states);
    expect(new Set(steps.map(({ id }) => id)).size).toBe(6);
    expect(isUnderWay(withdrawal(status))).toBe(status !== "completed");
  });

  it("say what an approval waits for, by the exchange's reason if it gives one", () => {
    const unsure = "the price of SOL is not certain now; the withdrawal goes on by itself when it is";
    const note = (reason: string | null) =>
      stepsOf(withdrawal("pending_approval", { reason }))[1]?.note?.detail;
    expect(note(unsure)).toBe(
      "The price of SOL is not certain now; the withdrawal goes on by itself when it is",
    );
    expect(note(null)).toBe("The exchange checks it");
  });

  it("counts confirmations", () => {
    const [step] = stepsOf(withdrawal("confirming", { confirmations: 3 })).filter(
      ({ state }) => state === "current",
    );
    expect(step?.note).toEqual({ detail: "3 of 32 confirmations" });
  });

  it("stops where it ended, with the reason", () => {
    const rejected = withdrawal("rejected", { reason: "not explained" });
    expect(drawn(rejected)).toEqual(["Requested: done", "Rejected: stopped", "Your funds are free: done"]);
    expect(stepsOf(rejected)[1]?.note?.detail).toBe("not explained");
    expect(stepsOf(rejected)[2]?.note?.detail).toBe("Nothing was sent");
    expect(stepsOf(withdrawal("cancelled"))[1]?.note?.detail).toBe("By you");
    expect(isUnderWay(rejected)).toBe(false);
  });

  it("say in the list why nothing was sent, and nothing of what goes on", () => {
    const told = (status: Withdrawal["status"], reason: string | null) =>
      reasonOf(withdrawal(status, { reason }))?.detail;
    expect(told("rejected", "not explained")).toBe("not explained");
    expect(told("failed", null)).toBe("No reason is given");
    expect(told("cancelled", null)).toBe("By you");
    expect(told("pending_approval", "the price is not certain now")).toBeUndefined();
  });

  it("say in the language of the page what the exchange gives as a reason, and an operator's words as they are", () => {
    reasonsIn.de = sayIn(german);
    showLanguage("de", {});
    const told = (status: Withdrawal["status"], reason: string) => reasonOf(withdrawal(status, { reason }));
    expect(told("failed", "RISK_NSF")).toEqual({ detail: "Nicht genug Guthaben" });
    expect(told("failed", "the network is gone")).toEqual({ detail: "the network is gone", language: "en" });
    expect(told("rejected", "no reason given")).toEqual({ detail: "no reason given" });
    const waits =
      "it waits until the price of SOL is certain, or an operator decides: its fair price is disputed";
    expect(stepsOf(withdrawal("pending_approval", { reason: waits }))[1]?.note).toEqual({
      detail:
        "Es wartet, bis der Preis von SOL sicher ist oder ein Betreiber entscheidet: Stand des fairen Preises: umstritten",
    });
  });

  it("say of which nothing was sent, so that no page tells what arrives", () => {
    for (const status of ["cancelled", "rejected", "failed"] as const)
      expect(hasStopped(withdrawal(status))).toBe(true);
    for (const status of ["pending_approval", "confirming", "completed"] as const)
      expect(hasStopped(withdrawal(status))).toBe(false);
  });

  it("can be cancelled until it is approved, and until it is sent while such withdrawals are paused", () => {
    const states = [
      "pending_approval",
      "approved",
      "signing",
      "broadcasting",
      "confirming",
      "completed",
    ] as const;
    const offered = (isPaused: boolean) =>
      states.filter((status) => isCancellable(withdrawal(status), isPaused));
    expect(offered(false)).toEqual(["pending_approval"]);
    expect(offered(true)).toEqual(["pending_approval", "approved", "signing"]);
  });
});
