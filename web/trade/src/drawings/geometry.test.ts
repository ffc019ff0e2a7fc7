import { expect, test } from "vitest";
import {
  distanceToSegment,
  fibonacciValues,
  nearestWithin,
  type Part,
  partAt,
  rayEnd,
  type Shape,
} from "./geometry.ts";

const size = { width: 200, height: 100 };
const places = [
  { x: 20, y: 80 },
  { x: 120, y: 30 },
];
const shape = (changes: Partial<Shape>): Shape => ({
  kind: "trend_line",
  places,
  levels: [],
  box: null,
  ...changes,
});
const hit = (one: Shape, x: number, y: number, showsPoints = false): Part | null =>
  partAt(one, { x, y }, { size, tolerance: 5, showsPoints });

test("the levels of a retracement go from the end of the move back to its begin", () => {
  expect(fibonacciValues(100, 200).map((value) => value.toFixed(1))).toEqual([
    "200.0",
    "176.4",
    "161.8",
    "150.0",
    "138.2",
    "121.4",
    "100.0",
  ]);
  expect(fibonacciValues(200, 100)[1]).toBeCloseTo(123.6);
});

test("a segment is as far away as its nearest point", () => {
  const [from, to] = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
  ];
  expect(distanceToSegment({ x: 5, y: 3 }, from, to)).toBe(3);
  expect(distanceToSegment({ x: 13, y: 4 }, from, to)).toBe(5);
  expect(distanceToSegment({ x: 3, y: 4 }, from, from)).toBe(5);
});

test("a ray ends outside of the canvas in every direction", () => {
  const from = { x: 100, y: 50 };
  for (const [dx, dy] of [
    [1, 0],
    [-1, 2],
    [0, -1],
  ] as const) {
    const end = rayEnd(from, { x: from.x + dx, y: from.y + dy }, size);
    expect(end.x < 0 || end.x > size.width || end.y < 0 || end.y > size.height).toBe(true);
  }
  expect(rayEnd(from, from, size)).toEqual(from);
});

test("a trend line is hit between its ends only, a ray beyond its second point too", () => {
  expect(hit(shape({}), 70, 56)).toBe("whole");
  expect(hit(shape({}), 160, 10)).toBeNull();
  expect(hit(shape({ kind: "ray" }), 160, 10)).toBe("whole");
  expect(hit(shape({ kind: "ray" }), 0, 90)).toBeNull();
});

test("points are taken hold of only where they are shown", () => {
  expect(hit(shape({}), 121, 31, true)).toBe(1);
  expect(hit(shape({}), 121, 31)).toBe("whole");
});

test("a horizontal line is hit anywhere at its height", () => {
  const line = shape({ kind: "horizontal_line", places: places.slice(0, 1) });
  expect([hit(line, 190, 83), hit(line, 190, 90)]).toEqual(["whole", null]);
});

test("a rectangle is hit at its edges, not inside, so that what it surrounds can be reached", () => {
  const box = shape({ kind: "rectangle" });
  expect([hit(box, 70, 80), hit(box, 120, 50), hit(box, 70, 40)]).toEqual(["whole", "whole", null]);
});

test("a retracement is hit at each of its levels", () => {
  const levels = shape({ kind: "fibonacci", levels: [30, 55, 80] });
  expect([hit(levels, 30, 55), hit(levels, 160, 55), hit(levels, 110, 70)]).toEqual(["whole", null, null]);
});

test("a text is hit where it stands", () => {
  const text = shape({
    kind: "text",
    places: places.slice(0, 1),
    box: { x: 20, y: 66, width: 50, height: 17 },
  });
  expect([hit(text, 60, 70), hit(text, 90, 70)]).toEqual(["whole", null]);
});

test("a point snaps to the nearest height within reach", () => {
  expect(nearestWithin(50, [10, 45, null, 60], 20)).toBe(1);
  expect(nearestWithin(50, [10, null], 20)).toBe(-1);
});
