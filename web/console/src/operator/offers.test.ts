import { describe, expect, it } from "vitest";
import type { MarketTerms } from "./listings.ts";
import {
  differencesOf,
  isTyped,
  missingTerms,
  offersChange,
  offersOf,
  rebased,
  STAKING_FIELDS,
} from "./offers.ts";

const TERMS: MarketTerms = {
  quantityMin: "1",
  quantityMax: "1000",
  notionalMin: "1",
  notionalMax: "5000",
  deviationBpsMax: 2000,
  slippageBpsMax: 500,
  status: "open",
  name: "",
  announcement: "",
  schedule: [],
  offers: [],
};
const PAYMENTS = { minimum: "5", maximum: "100", feeBps: 100, feeFixed: "0.5" };
const STAKING = {
  apr: "0.04",
  lockDays: 0,
  unbondingDays: 2,
  earlyRedemption: "allowed" as const,
  minimum: "1",
  maximum: "100",
  capacity: "1000",
};
const BEFORE = offersOf(TERMS);

describe("offersOf", () => {
  it("changes nothing of a market that offers nothing, and of one that offers everything", () => {
    const full = offersOf({
      ...TERMS,
      offers: ["staking", "payments", "conversions"],
      payments: PAYMENTS,
      staking: STAKING,
    });
    expect(full.offers).toEqual(["conversions", "payments", "staking"]);
    for (const draft of [BEFORE, full]) {
      expect(offersChange(draft, structuredClone(draft))).toEqual({});
      expect(differencesOf(draft, structuredClone(draft))).toEqual([]);
    }
  });
});

describe("rebased", () => {
  const full = offersOf({ ...TERMS, offers: ["conversions", "payments"], staking: STAKING });

  it("keeps what was typed, and gives back nothing that a colleague has just taken back", () => {
    const typed = {
      ...full,
      offers: [...full.offers, "staking" as const],
      staking: { ...full.staking, apr: "0.05" },
    };
    const dearer = { ...STAKING, capacity: "10" };
    const present = offersOf({ ...TERMS, offers: ["conversions"], staking: dearer });
    const draft = rebased(full, typed, present);
    expect(draft.offers).toEqual(["conversions", "staking"]);
    expect(draft.staking).toEqual({ ...present.staking, apr: "0.05" });
    expect(offersChange(present, draft)).toEqual({
      offers: ["conversions", "staking"],
      staking: { ...dearer, apr: "0.05" },
    });
  });

  it("is the market as it is now where nothing was typed", () => {
    const present = offersOf({ ...TERMS, offers: ["staking"], payments: PAYMENTS, staking: STAKING });
    expect(rebased(full, structuredClone(full), present)).toEqual(present);
  });
});

describe("offersChange", () => {
  it("sends the services, and terms only where a field of them changed", () => {
    expect(offersChange(BEFORE, { ...BEFORE, offers: ["conversions"] })).toEqual({ offers: ["conversions"] });
    const typed = {
      offers: ["payments" as const],
      payments: { minimum: "5", maximum: "100", feeBps: "100", feeFixed: "0.5" },
      staking: BEFORE.staking,
    };
    expect(offersChange(BEFORE, typed)).toEqual({ offers: ["payments"], payments: PAYMENTS });
    const known = offersOf({ ...TERMS, staking: STAKING });
    const dearer = { ...known, staking: { ...known.staking, apr: "0.05" } };
    expect(offersChange(known, dearer)).toEqual({ staking: { ...STAKING, apr: "0.05" } });
  });

  it("is nothing while a field of changed terms holds nothing of its kind, and names it", () => {
    const half = { ...BEFORE, payments: { minimum: "5", maximum: "0", feeBps: "1.5", feeFixed: "0" } };
    expect(offersChange(BEFORE, half)).toBeNull();
    expect(missingTerms(BEFORE, half)).toEqual(["Largest payment", "Fee in basis points"]);
    expect(missingTerms(BEFORE, { ...BEFORE, offers: ["payments"] })).toEqual([]);
  });
});

describe("differencesOf", () => {
  it("says in words what becomes of the services and of each term", () => {
    const after = {
      ...BEFORE,
      offers: ["conversions" as const, "payments" as const],
      payments: { minimum: "5", maximum: "100", feeBps: "0", feeFixed: "0" },
    };
    expect(differencesOf(BEFORE, after)).toEqual([
      { name: "Offered", before: "none", after: "Conversions, Payments" },
      { name: "Least payment", before: "none", after: "5" },
      { name: "Largest payment", before: "none", after: "100" },
      { name: "Fee in basis points", before: "none", after: "0" },
      { name: "Fixed fee", before: "none", after: "0" },
    ]);
  });
});

describe("isTyped", () => {
  it("asks each field for what it is for", () => {
    const field = (name: string) => {
      const found = STAKING_FIELDS.find((each) => each.name === name);
      if (!found) throw new Error(name);
      return found;
    };
    expect([isTyped(field("apr"), "0"), isTyped(field("apr"), "-1")]).toEqual([true, false]);
    expect([isTyped(field("minimum"), "0"), isTyped(field("minimum"), "0.1")]).toEqual([false, true]);
    expect([isTyped(field("lockDays"), "30"), isTyped(field("lockDays"), "")]).toEqual([true, false]);
    expect([
      isTyped(field("earlyRedemption"), "not_allowed"),
      isTyped(field("earlyRedemption"), "perhaps"),
    ]).toEqual([true, false]);
  });
});
