/** What editing makes of a layout: pure, and loaded by those who edit. */
import {
  type ChartChoice,
  COLUMNS,
  HEIGHT_MAX,
  HEIGHT_MIN,
  inReadingOrder,
  isOwnChart,
  type Layout,
  OWN_CHARTS,
  overlap,
  type Panel,
  panelOf,
  type PanelId,
  type Place,
  placed,
  right,
  WIDTH_MIN,
  type WidthClass,
} from "./model.ts";

/** The standard screen in columns and rows; what nobody has changed is not drawn by it. */
export const STANDARD: Readonly<Record<WidthClass, Layout>> = {
  tablet: [
    { id: "chart", x: 0, w: 24, h: 16 },
    { id: "book", x: 0, w: 14, h: 21 },
    { id: "form", x: 14, w: 10, h: 29 },
    { id: "trades", x: 0, w: 14, h: 8 },
    { id: "orders", x: 0, w: 24, h: 12 },
  ],
  laptop: [
    { id: "chart", x: 0, w: 14, h: 19 },
    { id: "book", x: 14, w: 5, h: 12 },
    { id: "form", x: 19, w: 5, h: 19 },
    { id: "trades", x: 14, w: 5, h: 7 },
    { id: "orders", x: 0, w: 24, h: 9 },
  ],
  wide: [
    { id: "chart", x: 0, w: 12, h: 20 },
    { id: "book", x: 12, w: 4, h: 20 },
    { id: "trades", x: 16, w: 4, h: 20 },
    { id: "form", x: 20, w: 4, h: 20 },
    { id: "orders", x: 0, w: 24, h: 9 },
  ],
};

export type Edge = "left" | "right" | "bottom" | "corner";

const middle = ({ y, h }: Place) => y + h / 2;

const clamped = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));

/**
 * The layout with a panel dragged to a column and a row. It goes before the first panel of its columns whose middle is
 * not above its own, and so changes places with one that it has passed by half.
 */
export function moved(layout: Layout, id: PanelId, x: number, y: number): Layout {
  const places = inReadingOrder(placed(layout));
  const held = places.find((place) => place.id === id);
  if (!held) return layout;
  const target = { ...held, x: clamped(x, 0, COLUMNS - held.w), y: Math.max(0, y) };
  const others = places.filter((place) => place !== held);
  const at = others.findIndex((other) => overlap(other, target) && middle(other) >= middle(target));
  const order = at < 0 ? [...others, target] : [...others.slice(0, at), target, ...others.slice(at)];
  return order.map(panelOf);
}

/** The layout with a panel one column further, or beyond its neighbour above or below. */
export function stepped(layout: Layout, id: PanelId, key: string): Layout {
  const places = inReadingOrder(placed(layout));
  const at = places.findIndex((place) => place.id === id);
  const held = places[at];
  if (!held) return layout;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const x = clamped(held.x + (key === "ArrowLeft" ? -1 : 1), 0, COLUMNS - held.w);
    return places.map((place) => panelOf(place === held ? { ...held, x } : place));
  }
  const isUp = key === "ArrowUp";
  const next = isUp
    ? places.slice(0, at).findLast((other) => overlap(other, held))
    : places.slice(at + 1).find((other) => overlap(other, held));
  if (!next) return layout;
  const others = places.filter((place) => place !== held);
  const before = others.indexOf(next) + (isUp ? 0 : 1);
  return [...others.slice(0, before), held, ...others.slice(before)].map(panelOf);
}

/** Whether a panel is free of all others but those of `except`. */
function isFree(places: readonly Place[], wanted: Place, except: readonly PanelId[]): boolean {
  return places.every(
    (other) =>
      except.includes(other.id) ||
      !overlap(other, wanted) ||
      other.y >= wanted.y + wanted.h ||
      wanted.y >= other.y + other.h,
  );
}

/**
 * The layout with an edge of a panel moved by columns and rows. A neighbour that touches the edge gives its room or
 * takes what becomes free, as at a splitter; one that would be too narrow goes below.
 */
export function resized(
  layout: Layout,
  width: WidthClass,
  id: PanelId,
  edge: Edge,
  columns: number,
  rows: number,
): Layout {
  const places = placed(layout);
  const held = places.find((place) => place.id === id);
  if (!held) return layout;
  const least = WIDTH_MIN[width];
  const next = { ...held };
  if (edge === "left") {
    next.x = clamped(held.x + columns, 0, right(held) - least);
    next.w = right(held) - next.x;
  }
  if (edge === "right" || edge === "corner") next.w = clamped(held.w + columns, least, COLUMNS - held.x);
  if (edge === "bottom" || edge === "corner") next.h = clamped(held.h + rows, HEIGHT_MIN, HEIGHT_MAX);
  const isBeside = (other: Place) => other.y < held.y + held.h && held.y < other.y + other.h;
  const fitted = (other: Place): Place => {
    if (other === held) return next;
    if (!isBeside(other)) return other;
    let fit = other;
    if (next.w !== held.w && edge !== "left" && other.x >= right(held)) {
      const isTouched = other.x === right(held) || other.x < right(next);
      if (isTouched) fit = { ...other, x: right(next), w: right(other) - right(next) };
    } else if (edge === "left" && right(other) <= held.x) {
      const isTouched = right(other) === held.x || right(other) > next.x;
      if (isTouched) fit = { ...other, w: next.x - other.x };
    }
    return fit.w >= least && isFree(places, fit, [id, other.id]) ? fit : other;
  };
  return places.map((place) => panelOf(fitted(place)));
}

/** The layout without a panel; the last one stays. */
export function hidden(layout: Layout, id: PanelId): Layout {
  return layout.length > 1 ? layout.filter((panel) => panel.id !== id) : layout;
}

/**
 * The layout with a hidden panel below the others. One of the standard has its size and columns there, another one half
 * of the columns, on the side that has more room.
 */
export function shownAgain(layout: Layout, width: WidthClass, id: PanelId): Layout {
  if (layout.some((panel) => panel.id === id)) return layout;
  const standard = STANDARD[width].find((panel) => panel.id === id);
  const half = COLUMNS / 2;
  const sides = [0, half].map((x) => ({ id, x, w: half, h: 12 }));
  const rowOf = (panel: Panel) => placed([...layout, panel]).at(-1)?.y ?? 0;
  const size = standard ?? sides.reduce((best, side) => (rowOf(side) < rowOf(best) ? side : best));
  const chart: ChartChoice = { symbol: null, interval: "1h", logarithmic: false };
  return [...layout, { id, x: size.x, w: size.w, h: size.h, ...(isOwnChart(id) ? { chart } : {}) }];
}

/** The next chart that can be added, or null where there are as many as there may be. */
export function nextChart(layout: Layout): PanelId | null {
  return OWN_CHARTS.find((id) => layout.every((panel) => panel.id !== id)) ?? null;
}
