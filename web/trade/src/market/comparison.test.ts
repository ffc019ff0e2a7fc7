import { expect, test } from "vitest";
import type { Candle } from "./candles.ts";
import { changeAt, closesAt, percentText, toggled } from "./comparison.ts";

const candle = (timestamp: number, close: string) => ({ timestamp, close }) as Candle;

test("another market has at each time the last close known by then, and none before its first", () => {
  const others = [candle(20, "5"), candle(40, "6"), candle(45, "7")];
  expect(closesAt([10, 20, 30, 40, 50], others)).toEqual([null, 5, 5, 6, 7]);
  expect(closesAt([10], [])).toEqual([null]);
});

test("percents count from the first close in sight", () => {
  const closes = [null, 50, 100, 110];
  expect(changeAt(closes, 0, 3)).toBeCloseTo(120);
  expect(changeAt(closes, 2, 3)).toBeCloseTo(10);
  expect(changeAt(closes, 0, 0)).toBeNull();
  expect(changeAt([], 0, -1)).toBeNull();
});

test("a change has a sign, or is none", () => {
  expect([1.204, -0.35, 0, null].map(percentText)).toEqual(["+1.20 %", "−0.35 %", "0.00 %", "–"]);
});

test("takes as many markets as it says on the page of one that is kept among them", () => {
  const kept = ["BTC-USD", "ETH-USD", "SOL-USD"];
  // The page of BTC-USD shows two of them, so there is a place.
  expect(toggled(kept, "ADA-USD", "BTC-USD", 3)).toEqual(["ETH-USD", "SOL-USD", "ADA-USD"]);
  expect(toggled(kept, "ADA-USD", "BTC-BRL", 3)).toEqual(kept);
  expect(toggled(kept, "ETH-USD", "BTC-USD", 3)).toEqual(["BTC-USD", "SOL-USD"]);
  expect(toggled(["BTC-USD"], "ETH-USD", "BTC-USD", 3)).toEqual(["BTC-USD", "ETH-USD"]);
});
