import { expect, test } from "vitest";
import { type Candle, mergeCandles, withNewest } from "./candles.ts";

function candle(timestamp: number, trades: number): Candle {
  const price = "100";
  return { timestamp, open: price, high: price, low: price, close: price, volume: "1", trades };
}

const KNOWN = [candle(0, 3), candle(60_000, 2)];
const times = (candles: readonly Candle[]) => candles.map(({ timestamp }) => timestamp);

test("the newest candle is replaced by a later record of it, and not by an earlier one", () => {
  expect(mergeCandles(KNOWN, [candle(60_000, 5)]).at(-1)?.trades).toBe(5);
  expect(mergeCandles(KNOWN, [candle(60_000, 1)]).at(-1)?.trades).toBe(2);
  expect(mergeCandles(KNOWN, [candle(60_000, 5)])[0]).toBe(KNOWN[0]);
});

test("candles before, between and behind the known ones come to their places", () => {
  expect(times(mergeCandles(KNOWN, [candle(120_000, 1)]))).toEqual([0, 60_000, 120_000]);
  expect(times(mergeCandles(KNOWN, [candle(30_000, 1)]))).toEqual([0, 30_000, 60_000]);
  expect(times(mergeCandles([], KNOWN))).toEqual([0, 60_000]);
  expect(mergeCandles(KNOWN, [candle(0, 9), candle(60_000, 9)]).map(({ trades }) => trades)).toEqual([9, 9]);
});

test("after a long break no candles are drawn beside those of hours later", () => {
  const pushed = candle(600_000, 1);
  const read = [candle(540_000, 4), candle(600_000, 2)];
  // A candle that the stream brought first does not close the hole.
  expect(times(withNewest([...KNOWN, pushed], read, 2, 60_000))).toEqual([540_000, 600_000]);
  expect(times(withNewest(KNOWN, read, 2, 60_000))).toEqual([540_000, 600_000]);
});

test("candles that were read again join those before them, and all that there are have no hole", () => {
  expect(times(withNewest(KNOWN, [candle(120_000, 1)], 1, 60_000))).toEqual([0, 60_000, 120_000]);
  expect(times(withNewest(KNOWN, [candle(60_000, 4), candle(120_000, 1)], 2, 60_000))).toEqual([
    0, 60_000, 120_000,
  ]);
  // Fewer than were asked for: nothing lies between.
  expect(times(withNewest(KNOWN, [candle(600_000, 1)], 2, 60_000))).toEqual([0, 60_000, 600_000]);
  expect(times(withNewest(KNOWN, [], 2, 60_000))).toEqual([0, 60_000]);
  expect(times(withNewest([], KNOWN, 2, 60_000))).toEqual([0, 60_000]);
});
