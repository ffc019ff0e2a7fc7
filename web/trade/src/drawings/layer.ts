/** Paints drawings above the candles, and knows what of them is under a pointer. */
import type { IPrimitivePaneView, ISeriesApi, ISeriesPrimitive } from "lightweight-charts";
import { formatDecimal } from "#lib/decimal.ts";
import { dark, light } from "#lib/theme/tokens.ts";
import type { Axes, Prices } from "./axes.ts";
import type { Drawing, Point } from "./drawing.ts";
import {
  type Box,
  FIBONACCI_LEVELS,
  fibonacciValues,
  type Part,
  partAt,
  type Place,
  rayEnd,
  type Shape,
  type Size,
} from "./geometry.ts";
import { DRAWING_COLOURS, type Scheme } from "./palette.ts";

export interface Scene {
  drawings: readonly Drawing[];
  /** The id of the drawing whose points are shown. */
  selected: string | null;
  /** The part of it that keys move. */
  part: Part;
  /** What is being placed. */
  draft: Drawing | null;
  /** Where the next point would be placed by the keyboard. */
  cursor: Point | null;
  scheme: Scheme;
}

export interface Layer {
  show: (scene: Scene) => void;
  /** The drawing under a place, the newest first, and what of it. */
  hit: (place: Place, tolerance: number) => { drawing: Drawing; part: Part } | null;
  /** Of the pane of the candles, as it was painted last. */
  size: () => Size;
  remove: () => void;
}

const FONT = '"Inter Variable", system-ui, sans-serif';
const TEXT_PX = [0, 12, 14, 18];
const POINT_PX = 5;
const CURSOR_PX = 9;
const NO_SIZE: Size = { width: 0, height: 0 };

export function createLayer(series: ISeriesApi<"Candlestick">, axes: Axes, prices: Prices): Layer {
  let scene: Scene = {
    drawings: [],
    selected: null,
    part: "whole",
    draft: null,
    cursor: null,
    scheme: "light",
  };
  let size = NO_SIZE;
  let shapes = new Map<Drawing, Shape>();
  let update: (() => void) | null = null;

  const primitive: ISeriesPrimitive = {
    attached: ({ requestUpdate }) => {
      update = requestUpdate;
    },
    detached: () => {
      update = null;
    },
    paneViews: () => views,
  };
  const views: readonly IPrimitivePaneView[] = [
    {
      zOrder: () => "top",
      renderer: () => ({
        draw: (target) =>
          target.useMediaCoordinateSpace(({ context, mediaSize }) => {
            size = mediaSize;
            context.save();
            paint(context);
            context.restore();
          }),
      }),
    },
  ];
  series.attachPrimitive(primitive);

  function paint(context: CanvasRenderingContext2D) {
    const { drawings, draft, selected, cursor, scheme } = scene;
    const painted = new Map<Drawing, Shape>();
    for (const drawing of draft === null ? drawings : [...drawings, draft]) {
      const shape = shapeOf(context, drawing);
      if (shape === null) continue;
      if (drawing !== draft) painted.set(drawing, shape);
      paintShape(context, drawing, shape);
      if (drawing.id === selected || drawing === draft) paintPoints(context, drawing, shape);
    }
    shapes = painted;
    const place = cursor && axes.placeOf(cursor);
    if (place) paintCursor(context, place, scheme === "dark" ? dark.text : light.text);
  }

  function shapeOf(context: CanvasRenderingContext2D, drawing: Drawing): Shape | null {
    const places = drawing.points.flatMap((point) => axes.placeOf(point) ?? []);
    const [first] = places;
    if (places.length < drawing.points.length || !first) return null;
    const { kind } = drawing;
    const values = kind === "fibonacci" ? levelValues(drawing) : [];
    return {
      kind,
      places,
      levels: values.flatMap((value) => axes.heightOf(value) ?? []),
      box: kind === "text" ? textBox(context, drawing, first) : null,
    };
  }

  function levelValues({ points }: Drawing): number[] {
    const [from, to] = points;
    return from && to ? fibonacciValues(prices.value(from.price), prices.value(to.price)) : [];
  }

  function textBox(context: CanvasRenderingContext2D, { text, width }: Drawing, { x, y }: Place): Box {
    const height = TEXT_PX[width] ?? 14;
    context.font = `${String(height)}px ${FONT}`;
    return { x, y: y - height, width: context.measureText(text).width, height: height * 1.2 };
  }

  function paintShape(context: CanvasRenderingContext2D, drawing: Drawing, shape: Shape) {
    const colour = DRAWING_COLOURS[drawing.colour][scene.scheme];
    const [first, second = first] = shape.places;
    if (!first || !second) return;
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = drawing.width;
    switch (drawing.kind) {
      case "trend_line":
        paintLine(context, first, second);
        break;
      case "ray":
        paintLine(context, first, rayEnd(first, second, size));
        break;
      case "horizontal_line":
        paintLine(context, { x: 0, y: first.y }, { x: size.width, y: first.y });
        break;
      case "rectangle": {
        const [width, height] = [second.x - first.x, second.y - first.y];
        context.fillStyle = `${colour}22`;
        context.fillRect(first.x, first.y, width, height);
        context.strokeRect(first.x, first.y, width, height);
        break;
      }
      case "fibonacci":
        paintLevels(context, drawing, shape, first, second);
        break;
      case "text":
        context.font = `${String(TEXT_PX[drawing.width] ?? 14)}px ${FONT}`;
        context.fillText(drawing.text, first.x, first.y);
        break;
    }
    if (drawing.kind !== "text" && drawing.text !== "") paintName(context, drawing, first, second, colour);
  }

  function paintLevels(
    context: CanvasRenderingContext2D,
    drawing: Drawing,
    { levels }: Shape,
    first: Place,
    second: Place,
  ) {
    const values = levelValues(drawing);
    const left = Math.min(first.x, second.x);
    context.font = `11px ${FONT}`;
    levels.forEach((y, at) => {
      paintLine(context, { x: first.x, y }, { x: second.x, y });
      const share = formatDecimal(((FIBONACCI_LEVELS[at] ?? 0) * 100).toFixed(1));
      const price = formatDecimal(prices.nearest(values[at] ?? 0));
      context.fillText(`${share} % (${price})`, left + 2, y - 3);
    });
    context.setLineDash([4, 4]);
    context.lineWidth = 1;
    paintLine(context, first, second);
    context.setLineDash([]);
  }

  function paintName(
    context: CanvasRenderingContext2D,
    { kind, text }: Drawing,
    first: Place,
    second: Place,
    colour: string,
  ) {
    const place =
      kind === "horizontal_line"
        ? { x: 8, y: first.y }
        : kind === "rectangle" || kind === "fibonacci"
          ? { x: Math.min(first.x, second.x), y: Math.min(first.y, second.y) - 12 }
          : first;
    context.fillStyle = colour;
    context.font = `12px ${FONT}`;
    context.fillText(text, place.x + 2, place.y - 6);
  }

  function paintPoints(context: CanvasRenderingContext2D, drawing: Drawing, { places }: Shape) {
    const colours = scene.scheme === "dark" ? dark : light;
    const colour = DRAWING_COLOURS[drawing.colour][scene.scheme];
    places.forEach(({ x, y }, at) => {
      context.beginPath();
      context.arc(x, y, POINT_PX, 0, 2 * Math.PI);
      // The one that keys move is filled.
      context.fillStyle = scene.part === at ? colour : colours.surface;
      context.fill();
      context.strokeStyle = colour;
      context.lineWidth = 2;
      context.stroke();
    });
  }

  return {
    show(next) {
      scene = next;
      update?.();
    },
    hit(place, tolerance) {
      const { drawings, selected } = scene;
      // What is selected is taken before the others, and what was drawn last before what was drawn first.
      const chosen = drawings.filter(({ id }) => id === selected);
      for (const drawing of [...chosen, ...[...drawings].reverse()]) {
        const shape = shapes.get(drawing);
        const showsPoints = drawing.id === selected;
        const part = shape && partAt(shape, place, { size, tolerance, showsPoints });
        if (part !== null && part !== undefined) return { drawing, part };
      }
      return null;
    },
    size: () => size,
    remove: () => series.detachPrimitive(primitive),
  };
}

function paintLine(context: CanvasRenderingContext2D, from: Place, to: Place) {
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
  context.stroke();
}

function paintCursor(context: CanvasRenderingContext2D, { x, y }: Place, colour: string) {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  paintLine(context, { x: x - CURSOR_PX, y }, { x: x + CURSOR_PX, y });
  paintLine(context, { x, y: y - CURSOR_PX }, { x, y: y + CURSOR_PX });
}
