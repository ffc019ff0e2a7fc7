/**
 * Where the panels of the trading screen stand: a list, in which each panel has its columns and its height. Each falls
 * upwards until it meets one that is before it in the list. So panels never lie on each other, whatever is kept. Pure.
 */
import type { Schemas } from "../api/client.ts";

export type Interval = Schemas["Interval"];

export const INTERVALS: readonly Interval[] = ["1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w"];
export const COLUMNS = 24;
/** Rows of one panel. */
export const HEIGHT_MIN = 6;
export const HEIGHT_MAX = 60;
const FIXED_PANELS = ["chart", "book", "trades", "form", "orders", "depth", "markets"] as const;
/** Each is a subscription and a canvas of its own. */
export const OWN_CHARTS = ["chart-2", "chart-3", "chart-4"] as const;
export const PANELS = [...FIXED_PANELS, ...OWN_CHARTS] as const;

export type PanelId = (typeof PANELS)[number];

/** What a further chart shows: a market, or null for that of the page; and its scale. */
export interface ChartChoice {
  symbol: string | null;
  interval: Interval;
  logarithmic: boolean;
}

export interface Panel {
  id: PanelId;
  /** The first of its columns, from 0. */
  x: number;
  /** How many columns it has. */
  w: number;
  /** How many rows it has. */
  h: number;
  /** Of a further chart alone. */
  chart?: ChartChoice;
}

export type Layout = readonly Panel[];

/** A panel with its first row, from 0. */
export interface Place extends Panel {
  y: number;
}

/** Windows of one class share a layout. A phone has none: its screen has room for one panel. */
export type WidthClass = "tablet" | "laptop" | "wide";

/** The columns below which a panel cannot be read. */
export const WIDTH_MIN: Readonly<Record<WidthClass, number>> = { tablet: 9, laptop: 5, wide: 4 };

const TEXT_MAX = 4_000;
const SYMBOL = /^[A-Z0-9]{2,10}-[A-Z0-9]{2,10}$/;

export const isOwnChart = (id: PanelId) => OWN_CHARTS.some((known) => known === id);

export const right = ({ x, w }: Panel) => x + w;

/** Whether two panels share a column. */
export const overlap = (a: Panel, b: Panel) => a.x < right(b) && b.x < right(a);

/** The panels with their rows, in the order of the list. */
export function placed(layout: Layout): Place[] {
  const places: Place[] = [];
  for (const panel of layout) {
    const ends = places.filter((other) => overlap(other, panel)).map((other) => other.y + other.h);
    places.push({ ...panel, y: Math.max(0, ...ends) });
  }
  return places;
}

/** The panel as it is kept: without its row. */
export const panelOf = ({ id, x, w, h, chart }: Panel): Panel => ({
  id,
  x,
  w,
  h,
  ...(chart ? { chart } : {}),
});

/** The panels from the top to the bottom, of one row from the left to the right. */
export function inReadingOrder(places: readonly Place[]): Place[] {
  return [...places].sort((a, b) => a.y - b.y || a.x - b.x);
}

/** The rows and columns of the page: as high as the window where the layout is not higher. */
export function template(layout: Layout): string {
  const rows = Math.max(...placed(layout).map(({ y, h }) => y + h));
  return `auto repeat(${String(rows)}, minmax(20px, 1fr)) / repeat(${String(COLUMNS)}, minmax(0, 1fr))`;
}

/** The layout that a browser keeps for a width class, or null if it is damaged or not known. */
export function readLayout(text: string | null, width: WidthClass): Layout | null {
  if (text === null || text.length > TEXT_MAX) return null;
  try {
    return layoutOf(JSON.parse(text), width);
  } catch {
    return null;
  }
}

/** The layout that these panels are, or null if they are not one: then the screen has its standard. */
export function layoutOf(found: unknown, width: WidthClass): Layout | null {
  if (!Array.isArray(found) || found.length === 0) return null;
  const panels = found.map((one: unknown) => readPanel(one, WIDTH_MIN[width]));
  const layout = panels.filter((panel) => panel !== null);
  const isWhole = layout.length === panels.length;
  return isWhole && new Set(layout.map(({ id }) => id)).size === layout.length ? layout : null;
}

function readPanel(found: unknown, widthMin: number): Panel | null {
  if (typeof found !== "object" || found === null) return null;
  const { id: name, x, w, h, chart: choice } = found as Record<string, unknown>;
  const id = PANELS.find((known) => known === name);
  if (id === undefined || !within(w, widthMin, COLUMNS) || !within(h, HEIGHT_MIN, HEIGHT_MAX)) return null;
  if (!within(x, 0, COLUMNS - w)) return null;
  const chart = readChoice(choice);
  if (!isOwnChart(id)) return { id, x, w, h };
  return chart && { id, x, w, h, chart };
}

function readChoice(found: unknown): ChartChoice | null {
  if (typeof found !== "object" || found === null) return null;
  const { symbol, interval: name, logarithmic: scale = false } = found as Record<string, unknown>;
  const interval = INTERVALS.find((known) => known === name);
  if (interval === undefined || typeof scale !== "boolean") return null;
  const rest = { interval, logarithmic: scale };
  if (symbol === null) return { symbol, ...rest };
  return typeof symbol === "string" && SYMBOL.test(symbol) ? { symbol, ...rest } : null;
}

function within(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}
