import { expect, it } from "vitest";
import { addDecimals, nearestNumber, shareOf, subtractDecimals } from "./arithmetic.ts";

it("computes exactly where floats would round", () => {
  expect(addDecimals("0.1", "0.2")).toBe("0.3");
  expect(addDecimals("100000000000000000", "0.000000000000000001")).toBe(
    "100000000000000000.000000000000000001",
  );
  expect(subtractDecimals("1", "0.9")).toBe("0.1");
  expect(subtractDecimals("1", "2")).toBe("-1");
});

it("gives the length of a bar between 0 and 1", () => {
  expect(shareOf("25", "100")).toBe(0.25);
  expect(shareOf("5", "0")).toBe(0);
  expect(shareOf("150", "100")).toBe(1);
  expect(shareOf("-5", "100")).toBe(0);
  expect(shareOf("1", "3")).toBeCloseTo(1 / 3, 15);
  expect(shareOf("12.345678901234567891", "100")).toBeCloseTo(0.12345678901234568, 15);
});

it.each(["", "1e3", "NaN"])("computes with decimals alone: %j", (text) => {
  expect(() => addDecimals(text, "1")).toThrow(RangeError);
  expect(() => nearestNumber(text)).toThrow(RangeError);
});
