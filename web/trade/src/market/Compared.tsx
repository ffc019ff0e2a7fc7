import { useComputedColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type IChartApi, type ISeriesApi, LineSeries, type UTCTimestamp } from "lightweight-charts";
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { type Schemas, useExchange } from "../api/client.ts";
import { useStream } from "../api/live.ts";
import { readCandles } from "../api/queries.ts";
import { lineColour } from "../indicators/palette.ts";
import { createPace } from "../stream/pace.ts";
import { type Candle, canvasValue, mergeCandles } from "./candles.ts";
import { changeAt, closesAt, percentText } from "./comparison.ts";

const LIMIT = 500;
const REDRAW_MS = 500;
const LINES = ["compared-1", "compared-2", "compared-3"] as const;

interface ComparedProps {
  symbol: string;
  others: readonly string[];
  chart: IChartApi;
  interval: Schemas["Interval"];
  /** The candles of the chart. */
  own: readonly Candle[];
  /** Begin of the candle under the pointer, in milliseconds. */
  pointed: number | null;
}

/** The lines of other markets, and beside the legend how much each has changed since the left edge of the chart. */
export default function Compared(props: ComparedProps) {
  const { symbol, others, chart, own, pointed } = props;
  const from = useFirstInSight(chart);
  const at = pointed === null ? own.length - 1 : own.findIndex(({ timestamp }) => timestamp === pointed);
  return (
    <p>
      <span>
        {symbol}{" "}
        {percentText(
          changeAt(
            own.map(({ close }) => canvasValue(close)),
            from,
            at,
          ),
        )}
      </span>
      {others.map((other, place) => (
        <Line key={other} {...props} other={other} place={place} from={from} at={at} />
      ))}
    </p>
  );
}

/** The index of the first candle in sight: percents count from there, as those of the price scale do. */
function useFirstInSight(chart: IChartApi): number {
  const follow = useCallback(
    (listener: () => void) => {
      const scale = chart.timeScale();
      scale.subscribeVisibleLogicalRangeChange(listener);
      return () => scale.unsubscribeVisibleLogicalRangeChange(listener);
    },
    [chart],
  );
  return useSyncExternalStore(follow, () =>
    Math.max(0, Math.ceil(chart.timeScale().getVisibleLogicalRange()?.from ?? 0)),
  );
}

function Line({
  chart,
  interval,
  own,
  other,
  place,
  from,
  at,
}: ComparedProps & { other: string; place: number; from: number; at: number }) {
  const scheme = useComputedColorScheme("light");
  const colour = lineColour(LINES[place] ?? LINES[0], scheme);
  const known = useOtherCandles(other, interval, own[0]?.timestamp);
  const series = useRef<ISeriesApi<"Line"> | null>(null);
  const closes = useMemo(
    () =>
      closesAt(
        own.map(({ timestamp }) => timestamp),
        known,
      ),
    [own, known],
  );
  // Before the effect of the chart, which takes itself away.
  useLayoutEffect(() => {
    const created = chart.addSeries(LineSeries, {
      lineWidth: 2,
      title: other,
      priceLineVisible: false,
      crosshairMarkerVisible: false,
    });
    series.current = created;
    return () => {
      series.current = null;
      chart.removeSeries(created);
    };
  }, [chart, other]);
  useEffect(() => series.current?.applyOptions({ color: colour }), [chart, other, colour]);
  useEffect(() => {
    series.current?.setData(
      own.map(({ timestamp }, index) => {
        const time = Math.floor(timestamp / 1000) as UTCTimestamp;
        const value = closes[index] ?? null;
        return value === null ? { time } : { time, value };
      }),
    );
  }, [chart, other, own, closes]);
  return (
    <span style={{ color: colour }}>
      {other} {percentText(changeAt(closes, from, at))}
    </span>
  );
}

const NONE: readonly Candle[] = [];

/** The candles of another market, live, back to `oldest`. */
function useOtherCandles(
  symbol: string,
  interval: Schemas["Interval"],
  oldest: number | undefined,
): readonly Candle[] {
  const exchange = useExchange();
  const stream = useStream();
  const [live, setLive] = useState<readonly Candle[]>(NONE);
  const { data = NONE } = useQuery({
    queryKey: ["candles", symbol, interval, "compared", oldest],
    queryFn: () => readBack(exchange, symbol, interval, oldest),
    enabled: oldest !== undefined,
    placeholderData: (before) => before,
    staleTime: Infinity,
    meta: { isPublic: true },
  });
  useEffect(() => {
    const pace = createPace(REDRAW_MS);
    let pushed: readonly Candle[] = NONE;
    const paint = () => setLive(pushed);
    const leave = stream.follow(`candles:${symbol}:${interval}`, {
      onPush: ({ data: candle }) => {
        pushed = mergeCandles(pushed, [candle as Candle]);
        pace.request(paint);
      },
    });
    return () => {
      leave();
      pace.withdraw(paint);
      setLive(NONE);
    };
  }, [stream, symbol, interval]);
  return useMemo(() => mergeCandles(data, live), [data, live]);
}

const READS_MAX = 20;

/** The candles from the newest back to `oldest`, page by page. */
async function readBack(
  exchange: ReturnType<typeof useExchange>,
  symbol: string,
  interval: Schemas["Interval"],
  oldest: number | undefined,
): Promise<readonly Candle[]> {
  let known: readonly Candle[] = await readCandles(exchange, symbol, interval, {}, LIMIT);
  for (let read = 1; read < READS_MAX; read += 1) {
    const [first] = known;
    if (!first || oldest === undefined || first.timestamp <= oldest) break;
    const to = new Date(first.timestamp).toISOString();
    const older = await readCandles(exchange, symbol, interval, { to }, LIMIT);
    if (older.length === 0) break;
    const more = mergeCandles(known, older);
    if (more.length === known.length) break;
    known = more;
  }
  return known;
}
