/** Between places on the canvas and points of drawings. */
import type { IChartApi, ISeriesApi, Logical } from "lightweight-charts";
import type { Schemas } from "../api/client.ts";
import { type Point, possibleTime } from "./drawing.ts";
import { nearestWithin, type Place } from "./geometry.ts";
import { indexOf, timeAt } from "./timeAxis.ts";

type Candle = Schemas["Candle"];

/** Prices are texts, except on the canvas. */
export interface Prices {
  value: (price: string) => number;
  /** The market's price that is nearest to a value of the canvas. */
  nearest: (value: number) => string;
  /** The price, so many steps of the market higher. */
  moved: (price: string, steps: bigint) => string;
}

export interface Axes {
  placeOf: (point: Point) => Place | null;
  pointAt: (place: Place) => Point | null;
  heightOf: (value: number) => number | null;
  /** The place of a candle: its open, high, low or close, if one of them is near; else the place itself. */
  snapped: (place: Place) => Place;
  /** The point, moved by so many candles and pixels upwards. */
  stepped: (point: Point, bars: number, pixels: number) => Point;
  /** Where a reader of the keyboard begins: the close of the newest candle that is in sight. */
  begin: () => Point | null;
}

const SNAP_PX = 28;

export function createAxes(
  chart: IChartApi,
  series: ISeriesApi<"Candlestick">,
  { candles, length, prices }: { candles: () => readonly Candle[]; length: number; prices: Prices },
): Axes {
  const scale = chart.timeScale();
  let known: readonly Candle[] = [];
  let begins: readonly number[] = [];

  /** When the candles begin. They are other ones, not changed ones, after each change. */
  function times(): readonly number[] {
    const now = candles();
    if (now !== known) [known, begins] = [now, now.map(({ timestamp }) => timestamp)];
    return begins;
  }

  /** Where the first candle stands, and how far apart they are: the chart itself knows no place between two. */
  function grid(): { first: number; step: number } | null {
    const first = scale.logicalToCoordinate(0 as Logical);
    const second = scale.logicalToCoordinate(1 as Logical);
    return first === null || second === null || candles().length === 0
      ? null
      : { first, step: second - first };
  }

  function pointAt({ x, y }: Place): Point | null {
    const lines = grid();
    const value = series.coordinateToPrice(y);
    if (lines === null || value === null) return null;
    const time = timeAt((x - lines.first) / lines.step, times(), length);
    return { time: possibleTime(time), price: prices.nearest(value) };
  }

  function placeOf({ time, price }: Point): Place | null {
    const lines = grid();
    const y = series.priceToCoordinate(prices.value(price));
    if (lines === null || y === null) return null;
    return { x: lines.first + indexOf(time, times(), length) * lines.step, y };
  }

  return {
    placeOf,
    pointAt,
    heightOf: (value) => series.priceToCoordinate(value),
    snapped(place) {
      const lines = grid();
      const all = candles();
      if (lines === null) return place;
      const at = Math.min(Math.max(Math.round((place.x - lines.first) / lines.step), 0), all.length - 1);
      const candle = all[at];
      if (!candle) return place;
      const { open, high, low, close } = candle;
      const heights = [open, high, low, close].map((price) => series.priceToCoordinate(prices.value(price)));
      const y = heights[nearestWithin(place.y, heights, SNAP_PX)];
      return y == null ? place : { x: lines.first + at * lines.step, y };
    },
    stepped({ time, price }, steps, pixels) {
      const all = times();
      const nextTime = steps === 0 ? time : timeAt(indexOf(time, all, length) + steps, all, length);
      const y = series.priceToCoordinate(prices.value(price));
      const value = pixels === 0 || y === null ? null : series.coordinateToPrice(y - pixels);
      const near = value === null ? price : prices.nearest(value);
      // A step of the market may be wider than the pixels.
      const isStuck = pixels !== 0 && near === price;
      return {
        time: possibleTime(nextTime),
        price: isStuck ? prices.moved(price, pixels > 0 ? 1n : -1n) : near,
      };
    },
    begin() {
      const range = scale.getVisibleLogicalRange();
      const all = candles();
      const candle = all[Math.min(all.length - 1, Math.max(0, Math.floor(range?.to ?? all.length)))];
      return candle ? { time: candle.timestamp, price: candle.close } : null;
    },
  };
}
