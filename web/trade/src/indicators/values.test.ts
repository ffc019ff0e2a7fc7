import { describe, expect, test } from "vitest";
import expected from "./expected.json" with { type: "json" };
import { atr, type Bar, bollinger, ema, macd, rsi, sma, type Values, volumeProfile, vwap } from "./values.ts";

const HOUR_S = 3600;
const bars: readonly Bar[] = expected.bars.map(
  ([open = 0, high = 0, low = 0, close = 0, volume = 0], at) => ({
    time: at * HOUR_S,
    open,
    high,
    low,
    close,
    volume,
  }),
);
const closes = bars.map(({ close }) => close);

function expectClose(values: Values, wanted: Values) {
  expect(values).toHaveLength(wanted.length);
  wanted.forEach((value, at) => {
    if (value === null) expect(values[at], `bar ${at}`).toBeNull();
    else expect(values[at], `bar ${at}`).toBeCloseTo(value, 6);
  });
}

const bar = (values: Partial<Bar>): Bar => ({
  time: 0,
  open: 1,
  high: 1,
  low: 1,
  close: 1,
  volume: 1,
  ...values,
});

describe("the values of TA-Lib", () => {
  test("simple moving average", () => expectClose(sma(closes, 20), expected.sma20));
  test("exponential moving average", () => expectClose(ema(closes, 12), expected.ema12));
  test("Bollinger bands", () => {
    const { upper, middle, lower } = bollinger(closes, 20, 2);
    expectClose(upper, expected.bollinger20.upper);
    expectClose(middle, expected.bollinger20.middle);
    expectClose(lower, expected.bollinger20.lower);
  });
  test("relative strength index", () => expectClose(rsi(closes, 14), expected.rsi14));
  test("moving average convergence and divergence", () => {
    const all = macd(closes, 12, 26, 9);
    expectClose(all.macd, expected.macd.macd);
    expectClose(all.signal, expected.macd.signal);
    expectClose(all.histogram, expected.macd.histogram);
  });
  test("average true range", () => expectClose(atr(bars, 14), expected.atr14));
});

describe("what has too few bars has no value", () => {
  const few = bars.slice(0, 3);
  const three = few.map(({ close }) => close);
  const none = [null, null, null];
  test.each<[string, Values]>([
    ["simple moving average", sma(three, 4)],
    ["exponential moving average", ema(three, 4)],
    ["Bollinger bands", bollinger(three, 4, 2).upper],
    ["relative strength index", rsi(three, 3)],
    ["moving average convergence and divergence", macd(three, 2, 3, 2).macd],
    ["average true range", atr(few, 3)],
  ])("%s", (_, values) => expect(values).toEqual(none));
  test("an empty chart has an empty list", () => {
    expect([sma([], 3), rsi([], 3), atr([], 3), vwap([]), volumeProfile([], 3)]).toEqual([
      [],
      [],
      [],
      [],
      [],
    ]);
  });
});

test("the averages of a MACD may be named in either order", () => {
  expect(macd(closes, 26, 12, 9)).toEqual(macd(closes, 12, 26, 9));
});

test("a price that never moved has a relative strength of 50", () => {
  expect(rsi([5, 5, 5, 5], 2)).toEqual([null, null, 50, 50]);
});

describe("volume-weighted average price", () => {
  test("weighs each bar with its volume", () => {
    const two = [
      bar({ high: 3, low: 1, close: 2, volume: 1 }),
      bar({ high: 6, low: 4, close: 5, volume: 3 }),
    ];
    expect(vwap(two)).toEqual([2, (2 + 15) / 4]);
  });
  test("begins again with each day, and has no value before its first trade", () => {
    const days = [
      bar({ close: 1 }),
      bar({ time: 86_400, volume: 0 }),
      bar({ time: 90_000, high: 7, low: 7, close: 7 }),
    ];
    expect(vwap(days)).toEqual([1, null, 7]);
  });
});

describe("volume profile", () => {
  test("spreads the volume of a bar over its range, and loses none", () => {
    const rows = volumeProfile(
      [
        bar({ low: 0, high: 4, open: 1, close: 3, volume: 8 }),
        bar({ open: 4, high: 4, low: 3, close: 3, volume: 2 }),
      ],
      4,
    );
    expect(rows.map(({ rising }) => rising)).toEqual([2, 2, 2, 2]);
    expect(rows.map(({ falling }) => falling)).toEqual([0, 0, 0, 2]);
  });
  test("has the whole volume of real bars", () => {
    const rows = volumeProfile(bars, 24);
    const total = rows.reduce((sum, { rising, falling }) => sum + rising + falling, 0);
    expect(total).toBeCloseTo(
      bars.reduce((sum, { volume }) => sum + volume, 0),
      6,
    );
  });
  test("puts a price without a range into its row", () => {
    expect(volumeProfile([bar({ volume: 3 }), bar({ open: 2, close: 1, volume: 4 })], 5)).toEqual([
      { low: 1, high: 1, rising: 3, falling: 4 },
    ]);
    const rows = volumeProfile(
      [
        bar({ low: 0, high: 0, open: 0, close: 0, volume: 5 }),
        bar({ low: 2, high: 2, open: 2, close: 2, volume: 7 }),
      ],
      2,
    );
    expect(rows.map(({ rising }) => rising)).toEqual([5, 7]);
  });
});
