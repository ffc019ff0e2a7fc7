/** Where drawings are on the canvas, and what of them is under a pointer. Pure; everything is in pixels. */
import type { Kind } from "./drawing.ts";

export interface Place {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Box extends Place, Size {}

/** The parts of the way back from the second point to the first. */
export const FIBONACCI_LEVELS = [0, 0.236, 0.382, 0.5, 0.618, 0.786, 1] as const;

/** The value of each level of a retracement of a move from `from` to `to`. */
export function fibonacciValues(from: number, to: number): number[] {
  return FIBONACCI_LEVELS.map((level) => to + (from - to) * level);
}

/** A drawing as it is drawn. */
export interface Shape {
  kind: Kind;
  places: readonly Place[];
  /** The heights of the levels of a retracement. */
  levels: readonly number[];
  /** Where a text stands. */
  box: Box | null;
}

/** A point of a drawing, by its place in the list, or the whole of it. */
export type Part = number | "whole";

export function distance(one: Place, other: Place): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

export function distanceToSegment(place: Place, from: Place, to: Place): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const squared = dx * dx + dy * dy;
  const along = squared === 0 ? 0 : ((place.x - from.x) * dx + (place.y - from.y) * dy) / squared;
  const share = Math.min(1, Math.max(0, along));
  return distance(place, { x: from.x + share * dx, y: from.y + share * dy });
}

/** Where a ray from `from` through `through` is outside of a canvas of this size. */
export function rayEnd(from: Place, through: Place, { width, height }: Size): Place {
  const length = distance(from, through);
  if (length === 0) return through;
  const reach =
    (width + height + Math.abs(from.x) + Math.abs(from.y) + Math.abs(through.x) + Math.abs(through.y)) /
    length;
  return { x: from.x + (through.x - from.x) * reach, y: from.y + (through.y - from.y) * reach };
}

/** What of a shape is at most `tolerance` away from a place; its points only where they can be seen. */
export function partAt(
  shape: Shape,
  place: Place,
  { size, tolerance, showsPoints }: { size: Size; tolerance: number; showsPoints: boolean },
): Part | null {
  if (showsPoints) {
    const point = shape.places.findIndex((one) => distance(one, place) <= tolerance);
    if (point >= 0) return point;
  }
  return distanceTo(shape, place, size) <= tolerance ? "whole" : null;
}

function distanceTo({ kind, places, levels, box }: Shape, place: Place, size: Size): number {
  const [first, second = first] = places;
  if (!first || !second) return Infinity;
  switch (kind) {
    case "trend_line":
      return distanceToSegment(place, first, second);
    case "ray":
      return distanceToSegment(place, first, rayEnd(first, second, size));
    case "horizontal_line":
      return Math.abs(place.y - first.y);
    case "rectangle": {
      const corners = [first, { x: second.x, y: first.y }, second, { x: first.x, y: second.y }];
      return Math.min(
        ...corners.map((corner, at) => distanceToSegment(place, corner, corners[(at + 1) % 4] ?? corner)),
      );
    }
    case "fibonacci":
      return Math.min(
        distanceToSegment(place, first, second),
        ...levels.map((y) => distanceToSegment(place, { x: first.x, y }, { x: second.x, y })),
      );
    case "text":
      return box === null ? Infinity : distanceToBox(place, box);
  }
}

function distanceToBox({ x, y }: Place, box: Box): number {
  const dx = Math.max(box.x - x, 0, x - box.x - box.width);
  const dy = Math.max(box.y - y, 0, y - box.y - box.height);
  return Math.hypot(dx, dy);
}

/** Of `values`, by their heights, the index of the one nearest to `y` within `reach`; -1 of none. */
export function nearestWithin(y: number, heights: readonly (number | null)[], reach: number): number {
  let best = -1;
  let least = reach;
  heights.forEach((height, at) => {
    const away = height === null ? Infinity : Math.abs(height - y);
    if (away <= least) [best, least] = [at, away];
  });
  return best;
}
