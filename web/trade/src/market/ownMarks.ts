/** The reader's open orders as lines of the chart, and their fills as marks at the candles. */
import {
  createSeriesMarkers,
  type IPriceLine,
  type ISeriesApi,
  LineStyle,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
} from "lightweight-charts";
import { formatDecimal } from "#lib/decimal.ts";
import { scaledText, toScaled } from "#lib/scaled.ts";
import type { Colours } from "#lib/theme/tokens.ts";
import type { Schemas } from "../api/client.ts";
import { canvasValue } from "./candles.ts";

type Order = Schemas["OrderRecord"];
export type Fill = Pick<Schemas["OwnTrade"], "side" | "quantity" | "executedAt">;

/** What the line of an order says. */
export function orderTitle({ side, remainingQuantity }: Pick<Order, "side" | "remainingQuantity">): string {
  return `${side === "buy" ? "Buy" : "Sell"} ${formatDecimal(remainingQuantity)}`;
}

export interface FillMark {
  /** Begin of the candle, in seconds. */
  time: number;
  side: Fill["side"];
  /** What was bought or sold during the candle. */
  quantity: string;
  /** How many fills it stands for. */
  count: number;
}

/** One mark for each candle and side, oldest first. Fills before the first candle of `times` have none. */
export function fillMarks(fills: readonly Fill[], times: readonly number[]): FillMark[] {
  const sums = new Map<string, { time: number; side: Fill["side"]; scaled: bigint; count: number }>();
  for (const { side, quantity, executedAt } of fills) {
    const at = Date.parse(executedAt) / 1000;
    const time = times.findLast((begin) => begin <= at);
    if (time === undefined) continue;
    const key = `${time} ${side}`;
    const { scaled, count } = sums.get(key) ?? { scaled: 0n, count: 0 };
    sums.set(key, { time, side, scaled: scaled + toScaled(quantity), count: count + 1 });
  }
  return [...sums.values()]
    .sort((one, other) => one.time - other.time || one.side.localeCompare(other.side))
    .map(({ time, side, scaled, count }) => ({ time, side, quantity: scaledText(scaled), count }));
}

export interface OwnMarks {
  showOrders: (orders: readonly Order[], colours: Colours) => void;
  /** Returns how many of the fills are in the candles that begin at `times`. */
  showFills: (fills: readonly Fill[], times: readonly number[], colours: Colours) => number;
}

/** The marks on `candles`. They go with the chart. */
export function createOwnMarks(candles: ISeriesApi<"Candlestick">): OwnMarks {
  const markers = createSeriesMarkers<Time>(candles, []);
  let lines: IPriceLine[] = [];
  return {
    showOrders(orders, colours) {
      for (const line of lines) candles.removePriceLine(line);
      lines = orders.flatMap((order) => {
        if (order.price === null) return [];
        const color = order.side === "buy" ? colours.positive : colours.negative;
        const price = canvasValue(order.price);
        return [
          candles.createPriceLine({
            price,
            color,
            lineWidth: 1,
            lineStyle: LineStyle.Dashed,
            title: orderTitle(order),
          }),
        ];
      });
    },
    showFills(fills, times, colours) {
      const marks = fillMarks(fills, times);
      markers.setMarkers(
        marks.map(({ time, side, quantity }): SeriesMarker<Time> => ({
          time: time as UTCTimestamp,
          position: side === "buy" ? "belowBar" : "aboveBar",
          shape: side === "buy" ? "arrowUp" : "arrowDown",
          color: side === "buy" ? colours.positive : colours.negative,
          text: formatDecimal(quantity),
        })),
      );
      return marks.reduce((sum, { count }) => sum + count, 0);
    },
  };
}
