import { SegmentedControl } from "@mantine/core";
import { useFullscreenElement } from "@mantine/hooks";
import { type ComponentProps, memo, useCallback, useState } from "react";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { keep, readKept } from "#lib/store.ts";
import type { Schemas } from "../api/client.ts";
import type { Market } from "../api/queries.ts";
import { Loading } from "../parts/Loading.tsx";
import type { BookState } from "../stream/feeds.ts";
import classes from "./ChartPanel.module.css";
import { ChartTools } from "./ChartTools.tsx";
import type { LastTrade } from "./lastPrice.ts";
import type { Own } from "./own.ts";

const CandleChart = late(() => import("./CandleChart.tsx"), {
  waiting: () => <Loading what={t("the chart")} />,
});
const CandleTable = late(() => import("./CandleTable.tsx"), {
  waiting: () => <Loading what={t("the chart")} />,
});
const DepthChart = late(() => import("./DepthChart.tsx"), {
  waiting: () => <Loading what={t("the chart")} />,
});

type Interval = Schemas["Interval"];
const INTERVALS: readonly Interval[] = ["1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w"];
const KEY = "openspot.trade.interval";
const SCALE_KEY = "openspot.trade.logarithmic";
const VIEWS = [
  {
    value: "candles",
    get label() {
      return t("Candles");
    },
  },
  {
    value: "depth",
    get label() {
      return t("Depth");
    },
  },
  {
    value: "figures",
    get label() {
      return t("Figures");
    },
  },
];

/** Candles of the chosen interval, or the depth of the book. */
export const ChartPanel = memo(function ChartPanel({
  market,
  book,
  last,
  own,
  view,
  onView,
}: {
  market: Market;
  book: BookState;
  last: LastTrade | undefined;
  /** What the reader has in the market. */
  own: Own;
  /** Candles, depth or figures. */
  view: string;
  onView: (view: string) => void;
}) {
  const [interval, setInterval] = useState<Interval>(
    () => INTERVALS.find((known) => known === readKept(() => localStorage, KEY)) ?? "15m",
  );
  const choose = useCallback((next: string) => {
    const known = INTERVALS.find((name) => name === next);
    if (!known) return;
    setInterval(known);
    keep(() => localStorage, KEY, known);
  }, []);
  const [isLogarithmic, setLogarithmic] = useState(() => readKept(() => localStorage, SCALE_KEY) !== null);
  const scale = useCallback((next: boolean) => {
    setLogarithmic(next);
    keep(() => localStorage, SCALE_KEY, next ? "yes" : null);
  }, []);
  const { ref, toggle, fullscreen } = useFullscreenElement<HTMLElement>();
  const fill = useCallback(() => void toggle(), [toggle]);
  return (
    <section className={classes.panel} aria-label={t("Chart")} ref={ref}>
      <Head
        symbol={market.symbol}
        view={view}
        onView={onView}
        interval={interval}
        onInterval={choose}
        isLogarithmic={isLogarithmic}
        onScale={scale}
        isFull={fullscreen}
        onFull={fill}
      />
      <div className={classes.body}>
        {view === "depth" ? (
          <DepthChart market={market} state={book} />
        ) : view === "figures" ? (
          <CandleTable market={market} interval={interval} />
        ) : (
          <CandleChart
            key={`${market.symbol} ${interval} ${market.tickSize}`}
            market={market}
            interval={interval}
            last={last}
            isLogarithmic={isLogarithmic}
            own={own}
          />
        )}
      </div>
    </section>
  );
});

/** Apart from the panel, which is drawn with every change of the book. */
const Head = memo(function Head({
  symbol,
  view,
  onView,
  interval,
  onInterval,
  ...tools
}: {
  view: string;
  onView: (view: string) => void;
  interval: Interval;
  onInterval: (interval: string) => void;
} & Omit<ComponentProps<typeof ChartTools>, "hasCandles">) {
  return (
    <div className={classes.head}>
      <SegmentedControl size="xs" aria-label={t("Chart")} data={VIEWS} value={view} onChange={onView} />
      {view !== "depth" && (
        <SegmentedControl
          size="xs"
          aria-label={t("Interval")}
          className={classes.intervals}
          data={[...INTERVALS]}
          value={interval}
          onChange={onInterval}
        />
      )}
      <ChartTools symbol={symbol} hasCandles={view === "candles"} {...tools} />
    </div>
  );
});
