import { SegmentedControl } from "@mantine/core";
import { lazy, memo, Suspense, useCallback, useState } from "react";
import { keep, readKept } from "#lib/store.ts";
import type { Schemas } from "../api/client.ts";
import type { Market } from "../api/queries.ts";
import { Loading } from "../parts/Loading.tsx";
import type { BookState } from "../stream/feeds.ts";
import { CandleTable } from "./CandleTable.tsx";
import classes from "./ChartPanel.module.css";
import { DepthChart } from "./DepthChart.tsx";
import type { LastTrade } from "./lastPrice.ts";

const CandleChart = lazy(() => import("./CandleChart.tsx"));

type Interval = Schemas["Interval"];
const INTERVALS: readonly Interval[] = ["1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w"];
const KEY = "openspot.trade.interval";
const VIEWS = [
  { value: "candles", label: "Candles" },
  { value: "depth", label: "Depth" },
  { value: "figures", label: "Figures" },
];

/** Candles of the chosen interval, or the depth of the book. */
export const ChartPanel = memo(function ChartPanel({
  market,
  book,
  last,
}: {
  market: Market;
  book: BookState;
  last: LastTrade | undefined;
}) {
  const [view, setView] = useState("candles");
  const [interval, setInterval] = useState<Interval>(
    () => INTERVALS.find((known) => known === readKept(() => localStorage, KEY)) ?? "15m",
  );
  const choose = useCallback((next: string) => {
    const known = INTERVALS.find((name) => name === next);
    if (!known) return;
    setInterval(known);
    keep(() => localStorage, KEY, known);
  }, []);
  return (
    <section className={classes.panel} aria-label="Chart">
      <Head view={view} onView={setView} interval={interval} onInterval={choose} />
      <div className={classes.body}>
        {view === "depth" ? (
          <DepthChart market={market} state={book} />
        ) : view === "figures" ? (
          <CandleTable market={market} interval={interval} />
        ) : (
          <Suspense fallback={<Loading what="the chart" />}>
            <CandleChart
              key={`${market.symbol} ${interval}`}
              market={market}
              interval={interval}
              last={last}
            />
          </Suspense>
        )}
      </div>
    </section>
  );
});

/** Apart from the panel, which is drawn with every change of the book. */
const Head = memo(function Head({
  view,
  onView,
  interval,
  onInterval,
}: {
  view: string;
  onView: (view: string) => void;
  interval: Interval;
  onInterval: (interval: string) => void;
}) {
  return (
    <div className={classes.head}>
      <SegmentedControl size="xs" aria-label="Chart" data={VIEWS} value={view} onChange={onView} />
      {view !== "depth" && (
        <SegmentedControl
          size="xs"
          aria-label="Interval"
          className={classes.intervals}
          data={[...INTERVALS]}
          value={interval}
          onChange={onInterval}
        />
      )}
    </div>
  );
});
