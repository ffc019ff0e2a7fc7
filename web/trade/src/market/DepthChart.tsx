import { SegmentedControl, Skeleton } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { EmptyState } from "#lib/components/states.tsx";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { scaledText, shareOfScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import type { BookState } from "../stream/feeds.ts";
import classes from "./DepthChart.module.css";
import { type DepthPoint, depthSeries, nearestPoint } from "./depth.ts";

const AXIS_HEIGHT = 22;
const RANGES = ["1", "2", "5", "10"] as const;

/** How much can be bought and sold up to each price; pointer or arrow keys read a price. */
export default function DepthChart({ market, state }: { market: Market; state: BookState }) {
  const { ref, width, height } = useElementSize();
  const [range, setRange] = useState<string>("2");
  const [share, setShare] = useState<number | null>(null);
  const { book, isCurrent } = state;
  if (!book) return <Skeleton height="100%" role="progressbar" aria-label={t("Loading the depth chart")} />;
  const series = depthSeries(book, BigInt(range));
  if (!series) {
    return (
      <EmptyState title={t("No depth to show")}>
        {t("There are orders on one side of the book at most.")}
      </EmptyState>
    );
  }
  const { bids, asks, low, high, deepest } = series;
  const plot = Math.max(0, height - AXIS_HEIGHT);
  const x = (price: bigint) => shareOfScaled(price - low, high - low) * width;
  const y = (total: bigint) => 4 + (1 - shareOfScaled(total, deepest)) * (plot - 4);
  const read = share === null ? null : nearestPoint(series, share);
  const places = placesOf(market.tickSize);
  const words = (point: DepthPoint) => {
    const total = formatDecimal(scaledText(point.total), placesOf(market.lotSize));
    const price = formatDecimal(scaledText(point.price), places);
    return point.side === "bids"
      ? t("{total} {baseAsset} wanted at {price} {quoteAsset} or more", {
          total,
          baseAsset: market.baseAsset,
          price,
          quoteAsset: market.quoteAsset,
        })
      : t("{total} {baseAsset} offered at {price} {quoteAsset} or less", {
          total,
          baseAsset: market.baseAsset,
          price,
          quoteAsset: market.quoteAsset,
        });
  };
  const follow = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    setShare((event.clientX - box.left) / Math.max(1, box.width));
  };
  const step = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -0.02, ArrowRight: 0.02, Home: -1, End: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setShare(Math.min(1, Math.max(0, (share ?? 0.5) + by)));
  };
  return (
    <div className={classes.chart} data-old={!isCurrent || undefined}>
      <div className={classes.tools}>
        <span className={classes.reading} aria-live="polite">
          {read ? words(read) : t("Point at a price to read the depth")}
        </span>
        <SegmentedControl
          size="xs"
          aria-label={t("Range of the depth chart")}
          data={RANGES.map((value) => ({ value, label: `±${value} %` }))}
          value={range}
          onChange={setRange}
        />
      </div>
      <div
        ref={ref}
        className={classes.plot}
        role="slider"
        tabIndex={0}
        aria-label={t("Depth chart")}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round((share ?? 0.5) * 100)}
        aria-valuetext={read ? words(read) : t("nothing chosen")}
        onPointerMove={follow}
        onPointerLeave={() => setShare(null)}
        onBlur={() => setShare(null)}
        onKeyDown={step}
      >
        <svg width={width} height={height} aria-hidden>
          <path d={area(bids, x, y, plot, x(low))} className={classes.bids} />
          <path d={area(asks, x, y, plot, x(high))} className={classes.asks} />
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <text
              key={part}
              className={classes.label}
              x={part * width}
              y={height - 6}
              textAnchor={part === 0 ? "start" : part === 1 ? "end" : "middle"}
            >
              {formatDecimal(axisPrice(low + ((high - low) * BigInt(part * 4)) / 4n, places), places)}
            </text>
          ))}
          {read && (
            <>
              <line className={classes.cursor} x1={x(read.price)} x2={x(read.price)} y1={0} y2={plot} />
              <circle
                className={classes.point}
                data-side={read.side}
                cx={x(read.price)}
                cy={y(read.total)}
                r={4}
              />
            </>
          )}
        </svg>
      </div>
    </div>
  );
}

function axisPrice(price: bigint, places: number): string {
  const [whole = "", fraction = ""] = scaledText(price).split(".");
  return places === 0 ? whole : `${whole}.${fraction.slice(0, places).padEnd(places, "0")}`;
}

/** A staircase from the best price outwards, closed at the ground. */
function area(
  points: readonly DepthPoint[],
  x: (price: bigint) => number,
  y: (total: bigint) => number,
  ground: number,
  end: number,
): string {
  const [first] = points;
  if (!first) return "";
  const parts = [`M${x(first.price).toFixed(1)},${ground}`];
  let level = ground;
  for (const { price, total } of points) {
    parts.push(`L${x(price).toFixed(1)},${level.toFixed(1)}`);
    level = y(total);
    parts.push(`L${x(price).toFixed(1)},${level.toFixed(1)}`);
  }
  parts.push(`L${end.toFixed(1)},${level.toFixed(1)}L${end.toFixed(1)},${ground}Z`);
  return parts.join("");
}
