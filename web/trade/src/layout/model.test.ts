import { expect, it } from "vitest";
import { type Layout, overlap, type Panel, placed, readLayout, template } from "./model.ts";
import { STANDARD } from "./changes.ts";

const panel = (id: Panel["id"], x: number, w: number, h: number): Panel => ({ id, x, w, h });

it("lets each panel fall upwards onto those of its columns", () => {
  const layout = [panel("chart", 0, 12, 10), panel("book", 12, 6, 8), panel("orders", 6, 12, 6)];
  expect(placed(layout).map(({ id, y }) => [id, y])).toEqual([
    ["chart", 0],
    ["book", 0],
    ["orders", 10],
  ]);
  expect(template(layout)).toBe("auto repeat(16, minmax(20px, 1fr)) / repeat(24, minmax(0, 1fr))");
});

it.each(["tablet", "laptop", "wide"] as const)(
  "the standard of a %s can be kept, and has no holes",
  (width) => {
    const layout = STANDARD[width];
    expect(readLayout(JSON.stringify(layout), width)).toEqual(layout);
    const rows = placed(layout).map(({ y, h }) => y + h);
    const area = layout.reduce((sum, { w, h }) => sum + w * h, 0);
    expect(area).toBe(Math.max(...rows) * 24);
  },
);

it("reads what it has written, with the further charts", () => {
  const layout: Layout = [
    panel("chart", 0, 14, 20),
    { ...panel("chart-2", 14, 10, 6), chart: { symbol: "ETH-USD", interval: "4h", logarithmic: false } },
    { ...panel("chart-3", 14, 10, 60), chart: { symbol: null, interval: "1m", logarithmic: false } },
  ];
  expect(readLayout(JSON.stringify(layout), "laptop")).toEqual(layout);
});

it.each([
  ["nothing", null],
  ["no JSON", "[{"],
  ["no list", "{}"],
  ["no panels", "[]"],
  ["an unknown panel", [{ id: "news", x: 0, w: 12, h: 10 }]],
  ["a panel twice", [panel("chart", 0, 12, 10), panel("chart", 12, 12, 10)]],
  ["a panel beyond the right end", [panel("chart", 13, 12, 10)]],
  ["a negative column", [panel("chart", -1, 12, 10)]],
  ["a panel that is too narrow", [panel("chart", 0, 4, 10)]],
  ["a panel that is too low", [panel("chart", 0, 12, 5)]],
  ["a panel that is too high", [panel("chart", 0, 12, 61)]],
  ["half a column", [panel("chart", 0, 12.5, 10)]],
  ["a text as a number", [{ id: "chart", x: "0", w: 12, h: 10 }]],
  ["a further chart without a choice", [panel("chart-2", 0, 12, 10)]],
  ["a chart of no interval", [{ ...panel("chart-2", 0, 12, 10), chart: { symbol: null, interval: "2m" } }]],
  [
    "a chart of no market",
    [{ ...panel("chart-2", 0, 12, 10), chart: { symbol: "<b>", interval: "1m", logarithmic: false } }],
  ],
  ["more than a layout can be", JSON.stringify([panel("chart", 0, 12, 10)]).padEnd(5000)],
])("a kept layout with %s is none", (_, kept) => {
  const text = kept === null || typeof kept === "string" ? kept : JSON.stringify(kept);
  expect(readLayout(text, "laptop")).toBeNull();
});

it("panels overlap if they share a column", () => {
  expect(overlap(panel("chart", 0, 12, 10), panel("book", 11, 6, 10))).toBe(true);
  expect(overlap(panel("chart", 0, 12, 10), panel("book", 12, 6, 10))).toBe(false);
});
