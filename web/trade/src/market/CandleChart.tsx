import { useComputedColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import {
  CandlestickSeries,
  ColorType,
  createChart,
  CrosshairMode,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  PriceScaleMode,
  type TickMarkType,
  type Time,
} from "lightweight-charts";
import { memo, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { late, MissingDialog, MissingSign } from "#lib/components/late.tsx";
import { several, t } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import { createStore, useStore } from "#lib/store.ts";
import { formatTime } from "#lib/time.ts";
import { dark, light } from "#lib/theme/tokens.ts";
import { type Schemas, useExchange } from "../api/client.ts";
import { useStream } from "../api/live.ts";
import { type Market, readCandles } from "../api/queries.ts";
import { explain } from "../api/messages.ts";
import { amountText } from "../parts/assetPlaces.ts";
import { Loading } from "../parts/Loading.tsx";
import { areToolsOpen } from "../drawings/kept.ts";
import { useHasDrawings } from "../drawings/queries.ts";
import { createLateIndicators, type LateIndicators } from "../indicators/late.ts";
import type { Reading } from "../indicators/lines.ts";
import { createPace } from "../stream/pace.ts";
import classes from "./CandleChart.module.css";
import { steer } from "./chartKeys.ts";
import { candleAt, type LastTrade } from "./lastPrice.ts";
import { useCompared } from "./compared.ts";
import { barOf, type Candle, canvasValue, mergeCandles, toBar, toVolume, withNewest } from "./candles.ts";
import { lineWords, type Own } from "./own.ts";
import type { OwnMarks } from "./ownMarks.ts";
import { movedPrice, nearestPrice } from "./ownPrices.ts";
import { tickMark } from "./tickMark.ts";

const Drawings = late(() => import("../drawings/Drawings.tsx"), { Missing: MissingDialog });
const Compared = late(() => import("./Compared.tsx"), { Missing: MissingSign });

type Interval = Schemas["Interval"];

const FIRST_LIMIT = 500;
const OLDER_LIMIT = 500;
/** Older candles are read when fewer than these are left on the left. */
const MARGIN_BARS = 20;
const BARS_SHOWN = 90;
/** A market that has fewer shows them this wide. */
const BARS_MIN = 40;
/** Each change draws the whole canvas again. */
const REDRAW_MS = 500;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LENGTHS: Readonly<Record<Interval, number>> = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "15m": 15 * MINUTE_MS,
  "30m": 30 * MINUTE_MS,
  "1h": HOUR_MS,
  "4h": 4 * HOUR_MS,
  "1d": DAY_MS,
  "1w": 7 * DAY_MS,
};

interface Series {
  chart: IChartApi;
  bars: ISeriesApi<"Candlestick">;
  volumes: ISeriesApi<"Histogram">;
  indicators: LateIndicators;
  /** Null until the reader has something to be marked. */
  own: OwnMarks | null;
}

interface Canvas {
  chart: IChartApi;
  bars: ISeriesApi<"Candlestick">;
  element: HTMLElement;
}

export default memo(CandleChart);

/** Candles with volume, live; older ones come when the reader scrolls to the left. */
function CandleChart({
  market,
  interval,
  last,
  isLogarithmic,
  own,
}: {
  market: Market;
  interval: Interval;
  /** The newest trade: the price of the candle of now. */
  last: LastTrade | undefined;
  /** Whether equal distances are equal changes in percent. */
  isLogarithmic: boolean;
  /** What the reader has in the market. */
  own: Own;
}) {
  const { symbol } = market;
  const exchange = useExchange();
  const stream = useStream();
  const holder = useRef<HTMLDivElement>(null);
  const series = useRef<Series | null>(null);
  const candles = useRef<readonly Candle[]>([]);
  /** Whether the chart shows the newest candles at their width. The stream may bring one before the list comes. */
  const isPlaced = useRef(false);
  /** Whether the chart has the oldest candle that there is. */
  const isComplete = useRef(false);
  const zone = useZone();
  const scheme = useComputedColorScheme("light");
  const [shown, setShown] = useState<Candle | null>(null);
  const [newest, setNewest] = useState<Candle | null>(null);
  /** The candles, as they are drawn. */
  const [drawn, setDrawn] = useState<readonly Candle[]>([]);
  const [readings, setReadings] = useState<readonly Reading[]>([]);
  /** The first and the last candle that are drawn: with others, fills have other marks. */
  const [span, setSpan] = useState("");
  /** How many fills the drawn candles have. */
  const [marked, setMarked] = useState(0);
  /** How many drawings there are. */
  const [drawings, setDrawings] = useState(0);
  /** What other parts draw on. */
  const [made] = useState(() => createStore<Canvas | null>(null));
  const canvas = useStore(made);
  const hasDrawings = useHasDrawings(symbol);
  const hasTools = useStore(areToolsOpen);
  const others = useCompared(symbol);
  const isCompared = others.length > 0;
  /** Begin of the candle under the pointer, in seconds. */
  const pointed = useRef<number | null>(null);
  const query = useQuery({
    queryKey: ["candles", symbol, interval],
    queryFn: () => readCandles(exchange, symbol, interval, {}, FIRST_LIMIT),
    staleTime: Infinity,
    meta: { isPublic: true },
  });
  const { data } = query;
  const places = placesOf(market.tickSize);
  const { tickSize } = market;
  const prices = useMemo(
    () => ({
      value: canvasValue,
      nearest: (value: number) => nearestPrice(value.toFixed(places), tickSize),
      moved: (price: string, steps: bigint) => movedPrice(price, tickSize, steps),
    }),
    [places, tickSize],
  );

  const shadesNow = useRef(volumeShades(scheme));
  const lastNow = useRef(last);
  const requestPaint = useRef<(() => void) | null>(null);
  const length = LENGTHS[interval];
  const draw = useCallback(() => {
    series.current?.bars.setData(
      candles.current.map((candle) => toBar(candleAt(candle, lastNow.current, length))),
    );
    series.current?.volumes.setData(candles.current.map((candle) => toVolume(candle, shadesNow.current)));
    series.current?.indicators.draw(barsNow(candles.current, lastNow.current, length));
    setReadings(series.current?.indicators.readings(pointed.current) ?? []);
    setNewest(candles.current.at(-1) ?? null);
    setDrawn(candles.current);
    setSpan([candles.current[0], candles.current.at(-1)].map((end) => end?.timestamp).join(" "));
  }, [length]);

  useEffect(() => {
    const element = holder.current;
    if (!element) return undefined;
    const chart = createChart(element, {
      autoSize: true,
      timeScale: { timeVisible: true, secondsVisible: false, rightOffset: 4 },
      rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.22 } },
      crosshair: { mode: CrosshairMode.Normal },
      handleScale: { axisPressedMouseMove: { price: false } },
    });
    const bars = chart.addSeries(CandlestickSeries, {
      priceFormat: { type: "price", precision: places, minMove: canvasValue(market.tickSize) },
    });
    const volumes = chart.addSeries(HistogramSeries, {
      priceFormat: { type: "volume" },
      priceScaleId: "volume",
      lastValueVisible: false,
      priceLineVisible: false,
    });
    chart.priceScale("volume").applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
    const indicators = createLateIndicators(chart, bars, places, () =>
      setReadings(indicators.readings(pointed.current)),
    );
    const parts: Series = { chart, bars, volumes, indicators, own: null };
    series.current = parts;
    made.set({ chart, bars, element });
    isPlaced.current = false;

    let isReading = false;
    isComplete.current = false;
    const readOlder = async () => {
      const [oldest] = candles.current;
      if (isReading || isComplete.current || !oldest) return;
      isReading = true;
      try {
        const to = new Date(oldest.timestamp).toISOString();
        const older = await readCandles(exchange, symbol, interval, { to }, OLDER_LIMIT);
        isComplete.current = older.length === 0;
        candles.current = mergeCandles(candles.current, older);
        if (series.current?.chart === chart) draw();
      } catch {
        // The next scroll asks again.
      } finally {
        isReading = false;
      }
    };
    chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      if (range && range.from < MARGIN_BARS && candles.current.length >= BARS_SHOWN) void readOlder();
    });
    chart.subscribeCrosshairMove(({ time }) => {
      const at = typeof time === "number" ? time * 1000 : null;
      setShown(at === null ? null : (candles.current.find(({ timestamp }) => timestamp === at) ?? null));
      pointed.current = at === null ? null : at / 1000;
      setReadings(indicators.readings(pointed.current));
    });
    return () => {
      series.current = null;
      made.set(null);
      indicators.stop();
      parts.own?.remove();
      chart.remove();
    };
  }, [exchange, symbol, interval, places, market.tickSize, draw, made]);

  useEffect(() => {
    if (!data) return;
    const [oldest] = candles.current;
    candles.current = withNewest(candles.current, data, FIRST_LIMIT, length);
    if (oldest && candles.current[0] !== oldest) isComplete.current = isPlaced.current = false;
    draw();
    if (!isPlaced.current) {
      isPlaced.current = true;
      const end = candles.current.length;
      const shownBars = Math.min(BARS_SHOWN, Math.max(end + 1, BARS_MIN));
      series.current?.chart.timeScale().setVisibleLogicalRange({ from: end - shownBars, to: end + 4 });
    }
  }, [data, draw, length]);

  useEffect(() => {
    let isWhole = false;
    const pace = createPace(REDRAW_MS);
    const paint = () => {
      const latest = candles.current.at(-1);
      if (isWhole || !latest) draw();
      else {
        series.current?.bars.update(toBar(candleAt(latest, lastNow.current, length)));
        series.current?.volumes.update(toVolume(latest, shadesNow.current));
        series.current?.indicators.drawNewest(barsNow(candles.current, lastNow.current, length));
        setReadings(series.current?.indicators.readings(pointed.current) ?? []);
        setNewest(latest);
        setDrawn(candles.current);
      }
      isWhole = false;
    };
    const leave = stream.follow(`candles:${symbol}:${interval}`, {
      onPush: ({ data: pushed }) => {
        const candle = pushed as Candle;
        // The chart changes its last candle alone quickly.
        isWhole ||= candle.timestamp !== candles.current.at(-1)?.timestamp;
        candles.current = mergeCandles(candles.current, [candle]);
        pace.request(paint);
      },
    });
    requestPaint.current = () => pace.request(paint);
    return () => {
      requestPaint.current = null;
      leave();
      pace.withdraw(paint);
    };
  }, [stream, symbol, interval, length, draw]);

  useEffect(() => {
    lastNow.current = last;
    requestPaint.current?.();
  }, [last]);

  useEffect(() => {
    shadesNow.current = volumeShades(scheme);
    const colours = scheme === "dark" ? dark : light;
    const { chart, bars } = series.current ?? {};
    chart?.applyOptions({
      layout: {
        background: { type: ColorType.Solid, color: colours.surface },
        textColor: colours.dimmed,
        fontFamily: '"Inter Variable", system-ui, sans-serif',
        fontSize: 11,
      },
      grid: { vertLines: { color: colours.sunken }, horzLines: { color: colours.sunken } },
      rightPriceScale: { borderColor: colours.border },
      timeScale: {
        borderColor: colours.border,
        tickMarkFormatter: (time: Time, type: TickMarkType) =>
          tickMark(seconds(time) * 1000, type, length < DAY_MS ? zone : "UTC"),
      },
      localization: {
        timeFormatter: (time: Time) => formatTime(seconds(time) * 1000, zone),
        priceFormatter: (price: number) => formatDecimal(price.toFixed(places), places),
      },
    });
    bars?.applyOptions({
      upColor: colours.positive,
      wickUpColor: colours.positive,
      borderUpColor: colours.positive,
      downColor: colours.negative,
      wickDownColor: colours.negative,
      borderDownColor: colours.negative,
    });
    draw();
  }, [scheme, zone, places, symbol, interval, length, draw]);

  useEffect(() => {
    series.current?.indicators.paint(scheme);
    setReadings(series.current?.indicators.readings(pointed.current) ?? []);
  }, [scheme, places, symbol, interval]);

  useEffect(() => {
    // Markets can be compared by their changes only, not by their prices.
    const own = isLogarithmic ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal;
    const mode = isCompared ? PriceScaleMode.Percentage : own;
    series.current?.chart.priceScale("right").applyOptions({ mode });
  }, [isLogarithmic, isCompared, symbol, interval]);

  const { orders, fills, averageCost, levels } = own;
  const hasOwn = orders.length > 0 || fills.length > 0 || averageCost !== null || levels.length > 0;
  useEffect(() => {
    const { current } = series;
    if (!current || (!hasOwn && current.own === null)) return undefined;
    let isAwaited = true;
    void import("./ownMarks.ts").then(
      ({ createOwnMarks }) => {
        if (!isAwaited || !holder.current) return;
        current.own ??= createOwnMarks(current.bars, holder.current);
        current.own.show(own, scheme === "dark" ? dark : light, market, isCompared);
        const times = candles.current.map(({ timestamp }) => timestamp / 1000);
        setMarked(current.own.showFills(own.fills, times));
      },
      // The lists name the same orders and fills, and their next change tries again.
      () => undefined,
    );
    return () => {
      isAwaited = false;
    };
  }, [own, hasOwn, scheme, market, isCompared, symbol, interval, span]);

  const present = newest && candleAt(newest, last, length);
  const legend = shown && shown.timestamp !== present?.timestamp ? shown : present;
  return (
    <div className={classes.box} data-drawing={hasTools || undefined}>
      <div
        ref={holder}
        className={classes.chart}
        role="group"
        tabIndex={0}
        aria-label={label(
          symbol,
          interval,
          present,
          drawnWords({ readings, own, fills: marked, drawings, others, quoteAsset: market.quoteAsset }),
        )}
        onKeyDown={(event) => series.current && steer(series.current.chart, event)}
      />
      {legend && (
        <div className={`figures ${classes.legend ?? ""}`} aria-hidden>
          <p>
            <Figure name="O" value={legend.open} places={places} />
            <Figure name="H" value={legend.high} places={places} />
            <Figure name="L" value={legend.low} places={places} />
            <Figure name="C" value={legend.close} places={places} />
            <Figure name={t("Vol")} value={legend.volume} places={0} />
          </p>
          {readings.length > 0 && (
            <p>
              {readings.map(({ id, title, colour, figures }) => (
                <span key={id} style={{ color: colour }}>
                  {title} {figures.map((figure) => formatDecimal(figure)).join(" · ")}
                </span>
              ))}
            </p>
          )}
          {canvas && isCompared && (
            <Compared
              chart={canvas.chart}
              symbol={symbol}
              others={others}
              interval={interval}
              own={drawn}
              pointed={shown?.timestamp ?? null}
            />
          )}
        </div>
      )}
      {canvas && hasDrawings && (
        <Drawings
          symbol={symbol}
          chart={canvas.chart}
          series={canvas.bars}
          holder={canvas.element}
          candles={candles}
          length={length}
          prices={prices}
          onCount={setDrawings}
        />
      )}
      {!data && query.error && (
        <div className={classes.over}>
          <ErrorState problem={explain(query.error)} onRetry={() => void query.refetch()} />
        </div>
      )}
      {query.isPending && (
        <div className={classes.over}>
          <Loading what={t("the candles")} />
        </div>
      )}
      {data && newest === null && (
        <div className={classes.over}>
          <EmptyState title={t("No candles yet")}>
            {t("The first trade of this market begins the first one.")}
          </EmptyState>
        </div>
      )}
    </div>
  );
}

function Figure({ name, value, places }: { name: string; value: string; places: number }) {
  return (
    <span>
      <span className={classes.name}>{name}</span> {formatDecimal(value, places)}
    </span>
  );
}

function label(symbol: string, interval: string, candle: Candle | null, own: string): string {
  const last = candle
    ? t(", the last from {open} to {close}", { open: candle.open, close: candle.close })
    : "";
  return t(
    "Candles of {interval} for {symbol}{last}.{own} Arrow keys move along, + and − zoom. The view “Figures” has them as a table.",
    { interval, symbol, last, own },
  );
}

/** What is drawn on the candles, in words. */
function drawnWords({
  readings,
  own: { orders: all, averageCost, levels },
  fills,
  drawings,
  others,
  quoteAsset,
}: {
  readings: readonly Reading[];
  own: Own;
  fills: number;
  drawings: number;
  others: readonly string[];
  quoteAsset: string;
}): string {
  const orders = lineWords(all);
  const sentences = [
    ...readings.map(({ title, figures }) => `${title}: ${figures.join(", ") || t("none yet")}.`),
    ...(orders === null ? [] : [orders]),
    ...(averageCost
      ? [t("Your average cost, {cost}, as a line.", { cost: amountText(averageCost, quoteAsset) })]
      : []),
    ...levels.map(({ title, price }) => `${title}: ${formatDecimal(price)}.`),
    ...(fills > 0 ? [several(fills, "Your {count} fill as marks.", "Your {count} fills as marks.")] : []),
    ...(drawings > 0 ? [several(drawings, "Your {count} drawing.", "Your {count} drawings.")] : []),
    ...(others.length > 0 ? [t("Compared with {markets}.", { markets: others.join(", ") })] : []),
  ];
  return sentences.map((sentence) => ` ${sentence}`).join("");
}

/** The bars that indicators see, the last one with the newest trade. */
function barsNow(candles: readonly Candle[], last: LastTrade | undefined, length: number) {
  return candles.map((candle) => barOf(candleAt(candle, last, length)));
}

const seconds = (time: Time) => (typeof time === "number" ? time : 0);

function volumeShades(scheme: string) {
  const colours = scheme === "dark" ? dark : light;
  return { rising: `${colours.positive}55`, falling: `${colours.negative}55` };
}
