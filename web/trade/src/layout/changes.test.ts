import { expect, it } from "vitest";
import { hidden, moved, nextChart, resized, shownAgain, STANDARD, stepped } from "./changes.ts";
import { type Layout, type PanelId, PANELS, placed, readLayout } from "./model.ts";

const LAPTOP = STANDARD.laptop;

/** Where a panel is: column, row, columns, rows. */
function at(layout: Layout, id: PanelId): number[] {
  const place = placed(layout).find((one) => one.id === id);
  return place ? [place.x, place.y, place.w, place.h] : [];
}

it("a panel that is dragged past the middle of another changes places with it", () => {
  expect(at(LAPTOP, "orders")).toEqual([0, 19, 24, 9]);
  // The middle of the chart is its tenth row.
  const above = moved(LAPTOP, "orders", 0, 4);
  expect(at(above, "orders")).toEqual([0, 0, 24, 9]);
  expect(at(above, "chart")).toEqual([0, 9, 14, 19]);
  expect(at(moved(LAPTOP, "orders", 0, 15), "orders")).toEqual([0, 19, 24, 9]);
});

it("a panel stays within the columns, however far it is dragged", () => {
  expect(at(moved(LAPTOP, "book", 400, -50), "book")).toEqual([19, 0, 5, 12]);
  expect(at(moved(LAPTOP, "book", -400, 900), "book").slice(0, 1)).toEqual([0]);
  expect(moved(hidden(LAPTOP, "book"), "book", 1, 1)).toEqual(hidden(LAPTOP, "book"));
});

it("arrow keys move by a column, and beyond the neighbour above or below", () => {
  const below = stepped(LAPTOP, "book", "ArrowDown");
  expect(at(below, "trades")).toEqual([14, 0, 5, 7]);
  expect(at(below, "book")).toEqual([14, 7, 5, 12]);
  expect(at(stepped(below, "book", "ArrowUp"), "book")).toEqual(at(LAPTOP, "book"));
  expect(at(stepped(LAPTOP, "chart", "ArrowUp"), "chart")).toEqual(at(LAPTOP, "chart"));
  expect(at(stepped(LAPTOP, "chart", "ArrowLeft"), "chart")).toEqual(at(LAPTOP, "chart"));
  expect(at(stepped(LAPTOP, "trades", "ArrowLeft"), "trades").slice(0, 1)).toEqual([13]);
});

it("neighbours give way at an edge that is moved, and take what becomes free", () => {
  const wider = resized(LAPTOP, "laptop", "book", "left", -2, 0);
  expect(at(wider, "book")).toEqual([12, 0, 7, 12]);
  expect(at(wider, "chart")).toEqual([0, 0, 12, 19]);
  const smaller = resized(LAPTOP, "laptop", "chart", "right", -3, 0);
  expect(at(smaller, "chart")).toEqual([0, 0, 11, 19]);
  expect(at(smaller, "book")).toEqual([11, 0, 8, 12]);
  expect(at(smaller, "trades")).toEqual([11, 12, 8, 7]);
});

it("a neighbour that would be too narrow goes below", () => {
  const wide = resized(LAPTOP, "laptop", "chart", "right", 4, 0);
  expect(at(wide, "chart")).toEqual([0, 0, 18, 19]);
  expect(at(wide, "book")).toEqual([14, 19, 5, 12]);
});

it("a corner changes both sizes, within the bounds", () => {
  expect(at(resized(LAPTOP, "laptop", "chart", "corner", -400, -400), "chart")).toEqual([0, 0, 5, 6]);
  expect(at(resized(LAPTOP, "laptop", "chart", "corner", 400, 400), "chart")).toEqual([0, 0, 24, 60]);
  expect(at(resized(LAPTOP, "laptop", "form", "left", -400, 0), "form")).toEqual([0, 19, 24, 19]);
});

it("a hidden panel comes back below, in its size; the last one cannot be hidden", () => {
  const without = hidden(LAPTOP, "trades");
  expect(at(without, "trades")).toEqual([]);
  expect(at(shownAgain(without, "laptop", "trades"), "trades")).toEqual([14, 28, 5, 7]);
  expect(shownAgain(LAPTOP, "laptop", "trades")).toEqual(LAPTOP);
  const alone = LAPTOP.slice(0, 1);
  expect(hidden(alone, "chart")).toEqual(alone);
});

it("three charts can be added, each with the page's market until another is chosen", () => {
  let layout: Layout = LAPTOP;
  for (const id of ["chart-2", "chart-3", "chart-4"] as const) {
    expect(nextChart(layout)).toBe(id);
    layout = shownAgain(layout, "laptop", id);
    expect(layout.at(-1)?.chart).toEqual({ symbol: null, interval: "1h", logarithmic: false });
  }
  expect(nextChart(layout)).toBeNull();
  // Two side by side, and the third below.
  expect(["chart-2", "chart-3", "chart-4"].map((id) => at(layout, id as PanelId).slice(0, 2))).toEqual([
    [0, 28],
    [12, 28],
    [0, 40],
  ]);
  expect(nextChart(hidden(layout, "chart-3"))).toBe("chart-3");
});

it.each(["tablet", "laptop", "wide"] as const)(
  "whatever is done on a %s, the layout can be kept",
  (width) => {
    let seed = 7;
    const next = (most: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
    let layout: Layout = STANDARD[width];
    for (let step = 0; step < 500; step += 1) {
      const id = PANELS[next(PANELS.length)] ?? "chart";
      const edge = (["left", "right", "bottom", "corner"] as const)[next(4)] ?? "left";
      layout =
        [
          () => moved(layout, id, next(40) - 10, next(60) - 10),
          () => stepped(layout, id, ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"][next(4)] ?? ""),
          () => resized(layout, width, id, edge, next(30) - 15, next(30) - 15),
          () => hidden(layout, id),
          () => shownAgain(layout, width, id),
        ][next(5)]?.() ?? layout;
      expect(readLayout(JSON.stringify(layout), width)).toEqual(layout);
    }
  },
);
