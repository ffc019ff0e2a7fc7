import { expect, test } from "vitest";
import { figure } from "./lines.ts";

test("a figure has six digits, however small or large it is, and no exponent", () => {
  expect(figure(0.000_000_4, undefined)).toBe("0.000000400000");
  expect(figure(-0.000_000_012_345_678, undefined)).toBe("-0.0000000123457");
  expect(figure(0.5, undefined)).toBe("0.500000");
  expect(figure(123.456_789, undefined)).toBe("123.457");
  expect(figure(12_345_678.9, undefined)).toBe("12345700");
  expect(figure(0, undefined)).toBe("0.00000");
});

test("a price has the decimals of its market", () => {
  expect(figure(123.456_789, 2)).toBe("123.46");
});
