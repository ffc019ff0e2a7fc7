import { describe, expect, test } from "vitest";
import { conditionOf, draftOf, isThere, lackOf, newDraft, type PriceAlert, restText } from "./draft.ts";

const ALERT: PriceAlert = {
  id: "A1",
  symbol: "BTC-USD",
  source: "fair_price",
  direction: "below",
  price: "58000",
  note: "buy",
  repeat: true,
  rearmDistance: "500",
  minimumIntervalSeconds: null,
  state: "armed",
  timesFired: 0,
  firedAt: null,
  firedPrice: null,
  createdAt: "2026-01-02T03:04:05.678Z",
};
const COMPLETE = { ...newDraft("BTC-USD"), price: "100" };

describe("a draft of an alert", () => {
  test("says what it lacks first", () => {
    expect(lackOf(newDraft(null))).toBe("a market");
    expect(lackOf(newDraft("BTC-USD"))).toBe("a price above 0");
    expect(lackOf({ ...COMPLETE, price: "0" })).toBe("a price above 0");
    expect(lackOf(COMPLETE)).toBeNull();
    expect(lackOf({ ...COMPLETE, distance: "-1" })).toBeNull();
    expect(lackOf({ ...COMPLETE, repeat: true })).toBeNull();
    expect(lackOf({ ...COMPLETE, repeat: true, distance: "0" })).toBe("a distance above 0, or none");
    expect(lackOf({ ...COMPLETE, repeat: true, distance: "100" })).toBe("a distance below the price");
    expect(lackOf({ ...COMPLETE, repeat: true, distance: "99.99" })).toBeNull();
    expect(lackOf({ ...COMPLETE, repeat: true, direction: "below", distance: "100" })).toBeNull();
  });

  test("of an alert becomes the same condition again", () => {
    const { source, direction, price, note, repeat, rearmDistance } = ALERT;
    expect(conditionOf(draftOf(ALERT))).toEqual({
      ...{ source, direction, price, note, repeat, rearmDistance },
      minimumIntervalSeconds: 60,
    });
  });

  test("without repeat has neither distance nor interval, and a blank note is none", () => {
    expect(conditionOf({ ...COMPLETE, distance: "5", note: "  " })).toEqual({
      source: "last_trade",
      direction: "above",
      price: "100",
      note: null,
      repeat: false,
      rearmDistance: null,
      minimumIntervalSeconds: null,
    });
  });

  test("knows whether the price is there already", () => {
    expect(isThere(COMPLETE, "100.0")).toBe(true);
    expect(isThere(COMPLETE, "99.99")).toBe(false);
    expect(isThere({ ...COMPLETE, direction: "below" }, "100.01")).toBe(false);
    expect(isThere({ ...COMPLETE, direction: "below" }, "100")).toBe(true);
    expect(isThere({ ...COMPLETE, price: "" }, "100")).toBe(false);
    expect(isThere(COMPLETE, null)).toBe(false);
  });

  test("names a rest that the dialog does not offer in seconds", () => {
    expect([restText(3_600), restText(90)]).toEqual(["1 hour", "90 seconds"]);
  });
});
