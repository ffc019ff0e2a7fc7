import { describe, expect, test } from "vitest";
import { daysOf, isDay, spanOf } from "./span.ts";

test.each([
  ["", true],
  ["2026-02-28", true],
  ["2026-13-01", false],
  ["yesterday", false],
  ["2026-01-01T00:00:00Z", false],
])("%s is a day: %s", (text, expected) => {
  expect(isDay(text)).toBe(expected);
});

describe("the days of a list", () => {
  test("are both included", () => {
    expect(spanOf({ from: "2026-02-27", to: "2026-02-28" })).toEqual({
      from: "2026-02-27T00:00:00Z",
      to: "2026-03-01T00:00:00.000Z",
    });
  });

  test("that are missing or made up bound nothing", () => {
    const address = new URLSearchParams("from=yesterday");
    const days = daysOf((name) => address.get(name) ?? "");
    expect(days).toEqual({ from: "", to: "" });
    expect(spanOf(days)).toEqual({});
  });
});
