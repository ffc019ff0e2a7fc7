import { expect, it } from "vitest";
import { movedPrice, nearestPrice } from "./ownPrices.ts";

it.each([
  ["100.24", "100"],
  ["100.25", "100.5"],
  ["100.5", "100.5"],
  ["0.1", "0.5"],
  ["-3", "0.5"],
])("a line that is let go at %s stands at the step %s", (drawn, price) => {
  expect(nearestPrice(drawn, "0.5")).toBe(price);
});

it.each([
  ["100", 1n, "100.5"],
  ["100", -10n, "95"],
  ["100.2", 1n, "100.5"],
  ["0.5", -1n, "0.5"],
])("%s moved by %d steps is %s", (price, by, moved) => {
  expect(movedPrice(price, "0.5", by)).toBe(moved);
});
