/** What each indicator draws: its lines and columns, with their values. Pure. */
import type { Indicator } from "./choice.ts";
import type { LineName } from "./palette.ts";
import { atr, type Bar, bollinger, ema, macd, rsi, sma, type Values, vwap } from "./values.ts";

export interface Plot {
  shape: "line" | "edge" | "columns";
  line: LineName;
  values: Values;
}

/** The plots of an indicator. A volume profile has none: it is no function of time. */
export function plotsOf(
  { id, kind }: Indicator,
  parameters: readonly number[],
  bars: readonly Bar[],
): Plot[] {
  const closes = bars.map(({ close }) => close);
  const [first = 0, second = 0, third = 0] = parameters;
  const line = (values: Values): Plot => ({ shape: "line", line: id as LineName, values });
  switch (kind) {
    case "sma":
      return [line(sma(closes, first))];
    case "ema":
      return [line(ema(closes, first))];
    case "bollinger": {
      const { upper, middle, lower } = bollinger(closes, first, second);
      return [line(middle), { ...line(upper), shape: "edge" }, { ...line(lower), shape: "edge" }];
    }
    case "vwap":
      return [line(vwap(bars))];
    case "rsi":
      return [line(rsi(closes, first))];
    case "macd": {
      const all = macd(closes, first, second, third);
      return [
        line(all.macd),
        { shape: "line", line: "signal", values: all.signal },
        { shape: "columns", line: "macd", values: all.histogram },
      ];
    }
    case "atr":
      return [line(atr(bars, first))];
    case "profile":
      return [];
  }
}
