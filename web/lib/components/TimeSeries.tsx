import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, useId, useState } from "react";
import { t } from "../language.ts";
import { useZone } from "../preferences.ts";
import { type GraphPoint, nearestIndex, type Point, runsOf, ticksAround } from "../series.ts";
import { formatClock } from "../time.ts";
import { Card } from "./Card.tsx";
import classes from "./TimeSeries.module.css";

const HEIGHT = 148;
const MARGIN = { top: 10, right: 8, bottom: 20, left: 44 };
const TICKS = 3;
const TIME_LABEL_WIDTH = 88;

/** Something that happened at a time: what came in points up, what went out points down. */
export interface Mark {
  at: number;
  isIn: boolean;
}

interface TimeSeriesProps {
  title: string;
  /** What a value is: "per second". */
  unit: string;
  /** The line breaks at a point without a value. */
  points: readonly GraphPoint[];
  /** Milliseconds that the graph shows, up to `until`. */
  span: number;
  until: number;
  format: (value: number) => string;
  /** How the axis writes its few values, in little room; by default as `format` does. */
  formatTick?: (value: number) => string;
  /** How a time is written; by default as the time of day. */
  formatAt?: (at: number, zone: string) => string;
  /** Drawn on the axis of time. They need a list beside the graph: whoever does not see them reads it there. */
  marks?: readonly Mark[];
}

/** A graph of one value over time, with its newest value in figures; pointer or arrow keys read any point. */
export function TimeSeries({
  title,
  unit,
  points,
  span,
  until,
  format,
  formatTick = format,
  formatAt = formatClock,
  marks = [],
}: TimeSeriesProps) {
  const { ref, width } = useElementSize();
  const zone = useZone();
  const gradient = useId();
  const [readAt, setReadAt] = useState<number | null>(null);
  const readIndex = readAt === null ? -1 : nearestIndex(points, readAt);
  const read = points[readIndex] ?? points.at(-1);
  const readText = read?.value == null ? null : format(read.value);
  const absentText = read?.value == null ? read?.missing : undefined;
  const runs = runsOf(points);

  const inner = {
    width: Math.max(0, width - MARGIN.left - MARGIN.right),
    height: HEIGHT - MARGIN.top - MARGIN.bottom,
  };
  const ticks = ticksAround(
    runs.flat().map(({ value }) => value),
    TICKS,
  );
  const [bottom, top] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const x = (at: number) => MARGIN.left + inner.width * (1 - (until - at) / span);
  const y = (value: number) => MARGIN.top + inner.height * (1 - (value - bottom) / (top - bottom));
  const position = ({ at, value }: Point) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`;
  const lines = runs.map((run) => ({
    // A line to where it begins is a dot: a run of one point is seen, too.
    line: `M${run.map(position).join("L")}${run.length === 1 ? "h0" : ""}`,
    base: `L${x(run.at(-1)?.at ?? 0).toFixed(1)},${y(0)}L${x(run[0]?.at ?? 0).toFixed(1)},${y(0)}Z`,
  }));
  const labels = Math.max(1, Math.floor(inner.width / TIME_LABEL_WIDTH));
  const times = Array.from({ length: labels + 1 }, (_, index) => until - span + (span * index) / labels);

  const follow = (event: PointerEvent<HTMLDivElement>) => {
    const left = event.currentTarget.getBoundingClientRect().left + MARGIN.left;
    setReadAt(until - span + (span * (event.clientX - left)) / Math.max(1, inner.width));
  };
  const step = (event: KeyboardEvent<HTMLDivElement>) => {
    const steps: Record<string, number> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      Home: -points.length,
      End: points.length,
    };
    const by = steps[event.key];
    if (by === undefined || points.length === 0) return;
    event.preventDefault();
    const from = readIndex === -1 ? points.length - 1 : readIndex;
    setReadAt(points[Math.min(points.length - 1, Math.max(0, from + by))]?.at ?? null);
  };

  return (
    <Card>
      <div className={classes.head}>
        <h3 className={classes.title}>{title}</h3>
        <span className={`figures ${classes.value ?? ""}`}>
          {readText ?? absentText ?? "–"} <span className={classes.unit}>{unit}</span>
        </span>
      </div>
      <div
        ref={ref}
        className={classes.plot}
        role="slider"
        tabIndex={0}
        aria-label={`${title}, ${unit}`}
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, points.length - 1)}
        aria-valuenow={readIndex === -1 ? Math.max(0, points.length - 1) : readIndex}
        aria-valuetext={
          read && readText !== null
            ? t("{format} {unit} at {formatAt}", {
                format: readText,
                unit,
                formatAt: formatAt(read.at, zone),
              })
            : read && absentText !== undefined
              ? `${formatAt(read.at, zone)}: ${absentText}`
              : t("no value yet")
        }
        onPointerMove={follow}
        onPointerLeave={() => setReadAt(null)}
        onBlur={() => setReadAt(null)}
        onKeyDown={step}
      >
        <svg width={width} height={HEIGHT} aria-hidden>
          <defs>
            <linearGradient id={gradient} x1="0" y1="0" x2="0" y2="1">
              <stop offset="0" stopColor="var(--os-accent)" stopOpacity="0.22" />
              <stop offset="1" stopColor="var(--os-accent)" stopOpacity="0" />
            </linearGradient>
          </defs>
          {ticks.map((tick) => (
            <g key={tick}>
              <line
                className={classes.grid}
                x1={MARGIN.left}
                x2={width - MARGIN.right}
                y1={y(tick)}
                y2={y(tick)}
              />
              <text className={classes.label} x={MARGIN.left - 8} y={y(tick) + 4} textAnchor="end">
                {formatTick(tick)}
              </text>
            </g>
          ))}
          {times.map((time, index) => (
            <text
              key={index}
              className={classes.label}
              x={x(time)}
              y={HEIGHT - 4}
              textAnchor={index === 0 ? "start" : index === labels ? "end" : "middle"}
            >
              {formatAt(time, zone)}
            </text>
          ))}
          <path d={lines.map(({ line, base }) => line + base).join("")} fill={`url(#${gradient})`} />
          <path d={lines.map(({ line }) => line).join("")} className={classes.line} />
          {marks
            .filter(({ at }) => at >= until - span && at <= until)
            .map(({ at, isIn }, index) => (
              <path
                key={index}
                className={classes.mark}
                data-in={isIn || undefined}
                d={`M${x(at).toFixed(1)},${y(0)}m-4,0h8l-4,${isIn ? -7 : 7}z`}
              />
            ))}
          {read && readIndex !== -1 && (
            <line className={classes.cursor} x1={x(read.at)} x2={x(read.at)} y1={MARGIN.top} y2={y(bottom)} />
          )}
          {read?.value != null && (
            <circle className={classes.point} cx={x(read.at)} cy={y(read.value)} r={3.5} />
          )}
        </svg>
        {read && readIndex !== -1 && (
          <span className={`figures ${classes.tip ?? ""}`}>
            {formatAt(read.at, zone)} · {readText ?? absentText ?? "–"}
          </span>
        )}
      </div>
    </Card>
  );
}
