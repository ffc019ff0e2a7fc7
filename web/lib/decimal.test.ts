import { describe, expect, it } from "vitest";
import {
  addDecimals,
  compareDecimals,
  cutDecimal,
  formatDecimal,
  isDecimal,
  parseDecimal,
  placesOf,
  shareOf,
  subtractDecimals,
} from "./decimal.ts";

describe("decimals", () => {
  it.each(["0", "12", "-3", "0.000000000000000001", "123456789012345678901234567890.123456789012345678"])(
    "takes %s and keeps every digit",
    (text) => {
      expect(isDecimal(text)).toBe(true);
      expect(parseDecimal(text).toFixed()).toBe(text);
    },
  );

  it.each(["", ".5", "5.", "1e3", "+1", " 1", "1,000", "0x10", "NaN", "Infinity", "1".repeat(41)])(
    "refuses %j",
    (text) => {
      expect(isDecimal(text)).toBe(false);
      expect(() => parseDecimal(text)).toThrow(RangeError);
    },
  );

  it("computes exactly where floats would round", () => {
    expect(addDecimals("0.1", "0.2")).toBe("0.3");
    expect(addDecimals("100000000000000000", "0.000000000000000001")).toBe(
      "100000000000000000.000000000000000001",
    );
    expect(subtractDecimals("1", "0.9")).toBe("0.1");
    expect(subtractDecimals("1", "2")).toBe("-1");
  });

  it("compares by value, not by letters", () => {
    expect(compareDecimals("9", "10")).toBe(-1);
    expect(compareDecimals("1.0", "1")).toBe(0);
    expect(compareDecimals("-1", "-2")).toBe(1);
  });

  it.each([
    ["1234567.891", 0, "1,234,567.891"],
    ["1234", 2, "1,234.00"],
    ["1.5", 4, "1.5000"],
    ["0.123456789012345678", 2, "0.123456789012345678"],
    ["-1234.5", 0, "−1,234.5"],
    ["999", 0, "999"],
    ["not a decimal", 2, "not a decimal"],
  ])("writes %s with %i places as %s", (text, places, written) => {
    expect(formatDecimal(text, places)).toBe(written);
  });

  it.each([
    ["0.123456789", 8, "0.12345678"],
    ["-1.999", 2, "-1.99"],
    ["1.5", 8, "1.5"],
    ["27873.0747284621", 2, "27873.07"],
    ["0.00000000000001", 8, "0.00000000000001"],
    ["not a decimal", 2, "not a decimal"],
  ])("cuts %s after %i places to %s, and never to nothing", (text, places, cut) => {
    expect(cutDecimal(text, places)).toBe(cut);
  });

  it("counts places with their zeros", () => {
    expect([placesOf("1"), placesOf("1.50"), placesOf("0.00000001")]).toEqual([0, 2, 8]);
  });

  it("gives the length of a bar between 0 and 1", () => {
    expect(shareOf("25", "100")).toBe(0.25);
    expect(shareOf("5", "0")).toBe(0);
    expect(shareOf("150", "100")).toBe(1);
    expect(shareOf("-5", "100")).toBe(0);
    expect(shareOf("1", "3")).toBeCloseTo(1 / 3, 15);
    expect(shareOf("12.345678901234567891", "100")).toBeCloseTo(0.12345678901234568, 15);
  });
});
