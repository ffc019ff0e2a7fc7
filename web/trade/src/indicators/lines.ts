/** The series of a chart that show the chosen indicators. */
import {
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  LineStyle,
  type UTCTimestamp,
} from "lightweight-charts";
import { dark, light } from "#lib/theme/tokens.ts";
import { type Choice, type Indicator, INDICATORS, titleOf } from "./choice.ts";
import { lineColour, type Scheme } from "./palette.ts";
import { type Plot, plotsOf } from "./plots.ts";
import { VolumeProfile } from "./VolumeProfile.ts";
import type { Bar } from "./values.ts";

export { followChoice } from "./choice.ts";

/** A pane of an indicator is this part of the pane of the candles. */
const PANE_SHARE = 0.3;
const RSI_LEVELS = [30, 70];
const DIGITS = 6;

/** What an indicator says of one bar. */
export interface Reading {
  id: string;
  title: string;
  /** The colour of its line. */
  colour: string;
  /** Its values, as texts; empty where it has none yet. */
  figures: readonly string[];
}

interface Shown {
  indicator: Indicator;
  parameters: readonly number[];
  series: readonly ISeriesApi<"Line" | "Histogram">[];
  plots: readonly Plot[];
}

export interface IndicatorLines {
  /** Show the indicators of `choice` in the colours of `scheme`, with the bars that were drawn last. */
  show: (choice: Choice, scheme: Scheme) => void;
  /** Show the same indicators in the colours of `scheme`. */
  paint: (scheme: Scheme) => void;
  /** Draw every bar. */
  draw: (bars: readonly Bar[]) => void;
  /** Draw the newest bar alone, which has changed or is new. */
  drawNewest: (bars: readonly Bar[]) => void;
  /** What the indicators say of the bar that begins at `time`, in seconds; of the newest one without a time. */
  readings: (time: number | null) => Reading[];
}

/** The lines of `chart`, whose candles have `places` decimals. They go with the chart. */
export function createIndicatorLines(
  chart: IChartApi,
  candles: ISeriesApi<"Candlestick">,
  places: number,
): IndicatorLines {
  let shown: Shown[] = [];
  let profile: VolumeProfile | null = null;
  let bars: readonly Bar[] = [];
  let scheme: Scheme = "light";
  let chosenLast: Choice = {};

  function clear() {
    for (const { series } of shown) for (const one of series) chart.removeSeries(one);
    // The first pane has the candles. An empty pane goes with its last series.
    if (profile) candles.detachPrimitive(profile);
    [shown, profile] = [[], null];
  }

  function add({ indicator, parameters, plots }: Omit<Shown, "series">, pane: number): Shown {
    const format = indicator.kind === "rsi" ? 2 : places;
    const series = plots.map(({ shape, line }) => {
      const colour = lineColour(line, scheme);
      const common = {
        priceLineVisible: false,
        lastValueVisible: indicator.hasPane && shape === "line",
        priceFormat: { type: "price" as const, precision: format, minMove: 10 ** -format },
      };
      if (shape === "columns")
        return chart.addSeries(HistogramSeries, { ...common, color: `${colour}66` }, pane);
      const width = indicator.kind === "bollinger" ? 1 : 2;
      const style = shape === "edge" ? LineStyle.Dashed : LineStyle.Solid;
      return chart.addSeries(
        LineSeries,
        { ...common, color: colour, lineWidth: width, lineStyle: style, crosshairMarkerVisible: false },
        pane,
      );
    });
    if (indicator.kind === "rsi") {
      for (const price of RSI_LEVELS)
        series[0]?.createPriceLine({
          price,
          color: lineColour("bollinger", scheme),
          lineWidth: 1,
          title: "",
        });
    }
    return { indicator, parameters, plots, series };
  }

  const planned = (indicator: Indicator, parameters: readonly number[]) => ({
    indicator,
    parameters,
    plots: plotsOf(indicator, parameters, bars),
  });

  function drawAll() {
    for (const { series, plots } of shown)
      series.forEach((one, at) => one.setData(bars.map((_, index) => pointOf(bars, plots[at], index))));
    profile?.show(bars);
  }

  function show(choice: Choice, nextScheme: Scheme) {
    clear();
    chosenLast = choice;
    scheme = nextScheme;
    let panes = 0;
    for (const indicator of INDICATORS) {
      const chosen = choice[indicator.id];
      if (!chosen?.isShown) continue;
      const { parameters } = chosen;
      if (indicator.kind === "profile") {
        const colours = scheme === "dark" ? dark : light;
        profile = new VolumeProfile(parameters[0] ?? 1, {
          rising: `${colours.positive}33`,
          falling: `${colours.negative}33`,
        });
        candles.attachPrimitive(profile);
      } else shown.push(add(planned(indicator, parameters), indicator.hasPane ? ++panes : 0));
    }
    chart.panes().forEach((pane, at) => pane.setStretchFactor(at === 0 ? 1 : PANE_SHARE));
    drawAll();
  }

  return {
    show,
    paint: (next) => show(chosenLast, next),
    draw(next) {
      bars = next;
      shown = shown.map((one) => ({ ...one, ...planned(one.indicator, one.parameters) }));
      drawAll();
    },
    drawNewest(next) {
      bars = next;
      shown = shown.map((one) => ({ ...one, ...planned(one.indicator, one.parameters) }));
      for (const { series, plots } of shown)
        series.forEach((one, at) => one.update(pointOf(bars, plots[at], bars.length - 1)));
      profile?.show(bars);
    },
    readings(time) {
      const at = time === null ? bars.length - 1 : bars.findIndex((bar) => bar.time === time);
      return shown.map(({ indicator, parameters, plots }) => ({
        id: indicator.id,
        title: titleOf(indicator, parameters),
        colour: lineColour(plots[0]?.line ?? "bollinger", scheme),
        figures: plots.flatMap(({ values }) => {
          const value = values[at] ?? null;
          return value === null ? [] : [figure(value, indicator.hasPane ? undefined : places)];
        }),
      }));
    },
  };
}

function pointOf(bars: readonly Bar[], plot: Plot | undefined, at: number) {
  const time = (bars[at]?.time ?? 0) as UTCTimestamp;
  const value = plot?.values[at] ?? null;
  return value === null ? { time } : { time, value };
}

/** With the decimals of the market, or with so many digits that the size is told. */
export function figure(value: number, places: number | undefined): string {
  return places === undefined ? plain(value.toPrecision(DIGITS)) : value.toFixed(places);
}

/** A text with the same digits and without an exponent. */
function plain(text: string): string {
  const exponent = text.split("e")[1];
  if (exponent === undefined) return text;
  // eslint-disable-next-line openspot/decimal-text -- an indicator's value, no money
  return Number(text).toFixed(Math.max(DIGITS - 1 - Number(exponent), 0));
}
