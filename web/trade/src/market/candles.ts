/** Candles as the chart takes them. */
import type { CandlestickData, HistogramData, UTCTimestamp } from "lightweight-charts";
import type { Schemas } from "../api/client.ts";
import type { Bar } from "../indicators/values.ts";

export type Candle = Schemas["Candle"];

/** Where a decimal stands on a canvas: a pixel needs no more than the sixteen digits that remain. */
export function canvasValue(text: string): number {
  // eslint-disable-next-line openspot/decimal-text -- the place of a pixel; figures are shown from the text
  return Number(text);
}

const timeOf = ({ timestamp }: Candle) => Math.floor(timestamp / 1000) as UTCTimestamp;

export function toBar(candle: Candle): CandlestickData {
  return {
    time: timeOf(candle),
    open: canvasValue(candle.open),
    high: canvasValue(candle.high),
    low: canvasValue(candle.low),
    close: canvasValue(candle.close),
  };
}

/** The candle as indicators take it. */
export function barOf(candle: Candle): Bar {
  const { open, high, low, close } = toBar(candle);
  return { time: timeOf(candle), open, high, low, close, volume: canvasValue(candle.volume) };
}

export function toVolume(candle: Candle, colours: { rising: string; falling: string }): HistogramData {
  const { open, close } = toBar(candle);
  return {
    time: timeOf(candle),
    value: canvasValue(candle.volume),
    color: close < open ? colours.falling : colours.rising,
  };
}

/** `known` with `more`, in order of time; of two candles of one time the one with more trades counts. */
export function mergeCandles(known: readonly Candle[], more: readonly Candle[]): Candle[] {
  const [only, ...others] = more;
  const last = known.at(-1);
  if (only && last?.timestamp === only.timestamp && others.length === 0) {
    // The candle of now, which changes with every trade.
    return last.trades <= only.trades ? [...known.slice(0, -1), only] : [...known];
  }
  const byTime = new Map(known.map((candle) => [candle.timestamp, candle]));
  for (const candle of more) {
    const before = byTime.get(candle.timestamp);
    if (!before || before.trades <= candle.trades) byTime.set(candle.timestamp, candle);
  }
  return [...byTime.values()].sort((a, b) => a.timestamp - b.timestamp);
}

/**
 * `known` with the newest candles as they were read again, at most `limit` of them. If others may be missing between
 * both, as after hours without a connection, the older ones go: a chart would draw them side by side.
 */
export function withNewest(
  known: readonly Candle[],
  newest: readonly Candle[],
  limit: number,
  length: number,
) {
  const begin = newest[0]?.timestamp ?? 0;
  const before = known.findLast(({ timestamp }) => timestamp < begin)?.timestamp ?? begin;
  const hasHole = newest.length >= limit && begin - before > length;
  return mergeCandles(hasHole ? known.filter(({ timestamp }) => timestamp >= begin) : known, newest);
}
