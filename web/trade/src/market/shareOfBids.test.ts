import { expect, it } from "vitest";
import { shareOfBids } from "./shareOfBids.ts";

it("rounds to whole percent, and says 0 or 100 only of a side that is empty", () => {
  expect(shareOfBids(1n, 2n)).toBe(33);
  expect(shareOfBids(2n, 1n)).toBe(67);
  expect(shareOfBids(1n, 10_000n)).toBe(1);
  expect(shareOfBids(10_000n, 1n)).toBe(99);
  expect(shareOfBids(0n, 5n)).toBe(0);
  expect(shareOfBids(5n, 0n)).toBe(100);
  expect(shareOfBids(0n, 0n)).toBeNull();
});
