import { describe, expect, it } from "vitest";
import { compareDecimals, cutDecimal, formatDecimal, isDecimal, placesOf } from "./decimal.ts";

describe("decimals", () => {
  it.each(["0", "12", "-3", "0.000000000000000001", "123456789012345678901234567890.123456789012345678"])(
    "takes %s",
    (text) => {
      expect(isDecimal(text)).toBe(true);
    },
  );

  it.each(["", ".5", "5.", "1e3", "+1", " 1", "1,000", "0x10", "NaN", "Infinity", "1".repeat(41)])(
    "refuses %j",
    (text) => {
      expect(isDecimal(text)).toBe(false);
      expect(() => compareDecimals(text, "1")).toThrow(RangeError);
      expect(() => compareDecimals("1", text)).toThrow(RangeError);
    },
  );

  it.each([
    ["9", "10", -1],
    ["1.0", "1", 0],
    ["-1", "-2", 1],
    ["0", "-0.00", 0],
    ["-0.5", "-0.25", -1],
    ["0.1", "-0.1", 1],
    ["123456789012345678901234567890.000000000000000001", "123456789012345678901234567890", 1],
  ] as const)("compares %s and %s by value, not by letters", (a, b, order) => {
    expect(compareDecimals(a, b)).toBe(order);
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
    ["-0.001", 2, "-0.001"],
    ["120.7", 0, "120"],
    ["100.004", 2, "100"],
    ["100.5009", 3, "100.5"],
    ["0.10203", 4, "0.102"],
    ["not a decimal", 2, "not a decimal"],
  ])("cuts %s after %i places to %s, and never to nothing", (text, places, cut) => {
    expect(cutDecimal(text, places)).toBe(cut);
  });

  it("counts places with their zeros", () => {
    expect([placesOf("1"), placesOf("1.50"), placesOf("0.00000001")]).toEqual([0, 2, 8]);
  });
});
