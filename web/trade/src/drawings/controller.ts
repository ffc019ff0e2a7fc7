/** What pointer and keys do with the drawings of a chart: place, select, move, delete. */
import { createStore, type Store } from "#lib/store.ts";
import type { Axes } from "./axes.ts";
import { type Change, changed, type Drawing, type Kind, type Point, pointsOf } from "./drawing.ts";
import { distance, type Part, type Place } from "./geometry.ts";
import type { Layer } from "./layer.ts";
import type { Scheme } from "./palette.ts";

/** What the tools show. */
export interface Status {
  tool: Kind | null;
  /** The points that are placed of the drawing that is begun. */
  placed: readonly Point[];
  /** Where the keyboard would place the next one. */
  cursor: Point | null;
  selected: string | null;
  /** What keys move of the selected drawing. */
  part: Part;
  /** The drawing that is being moved, as it is now. */
  held: Drawing | null;
  /** Whether keys do it: then it is said in words. */
  isKeyed: boolean;
}

/** What a new drawing looks like. */
export type Style = Pick<Drawing, "colour" | "width">;

interface Options {
  holder: HTMLElement;
  axes: Axes;
  layer: Layer;
  /** What a new text says, before something is typed. */
  newText: () => string;
  style: () => Style;
  snaps: () => boolean;
  /** Returns false for a change that is refused at once. */
  onChange: (change: Change) => boolean;
  onUndo: () => void;
  onRedo: () => void;
  /** A drawing was placed. */
  onPlaced: (drawing: Drawing) => void;
}

export interface Controller {
  status: Store<Status>;
  /** Draw these from now on. */
  show: (drawings: readonly Drawing[], scheme: Scheme) => void;
  /** Take a tool in hand, or put it away. */
  choose: (tool: Kind | null) => void;
  select: (id: string | null) => void;
  /** Whether a key has been made use of. */
  press: (event: KeyboardEvent) => boolean;
  stop: () => void;
}

export const IDLE: Status = {
  tool: null,
  placed: [],
  cursor: null,
  selected: null,
  part: "whole",
  held: null,
  isKeyed: true,
};
const TOLERANCE_PX = 7;
const TOUCH_TOLERANCE_PX = 16;
/** So far a press is a drag: it places both ends. */
const DRAG_PX = 8;
const STEP_PX = 4;
const LONG = 10;
/** Keys in succession are one step. */
const REST_MS = 900;
const ARROWS: Readonly<Record<string, readonly [bars: number, pixels: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, STEP_PX],
  ArrowDown: [0, -STEP_PX],
};

interface Drag {
  pointer: number;
  from: Place;
  /** What is moved; null while a drawing is placed. */
  moved: { drawing: Drawing; part: Part } | null;
}

export function createController(options: Options): Controller {
  const { holder, axes, layer, style, snaps } = options;
  const status = createStore(IDLE);
  let drawings: readonly Drawing[] = [];
  let scheme: Scheme = "light";
  let drag: Drag | null = null;
  let rest: ReturnType<typeof setTimeout> | undefined;

  const set = (changes: Partial<Status>) => status.set({ ...status.get(), ...changes });

  function paint() {
    const { tool, placed, cursor, selected, part, held } = status.get();
    const points = cursor === null ? placed : [...placed, cursor];
    const draft = tool !== null && points.length >= pointsOf(tool) ? drawn(tool, points) : null;
    layer.show({
      drawings: held === null ? drawings : changed(drawings, { put: [held], remove: [] }),
      selected,
      part,
      draft,
      cursor: tool === null ? null : cursor,
      scheme,
    });
  }
  const leave = status.subscribe(paint);

  function drawn(kind: Kind, points: readonly Point[]): Drawing {
    const text = kind === "text" ? options.newText() : "";
    return { id: "draft", kind, points: points.slice(0, pointsOf(kind)), text, ...style() };
  }

  function apply(change: Change) {
    // What is drawn does not wait until the page has heard of it.
    if (options.onChange(change)) drawings = changed(drawings, change);
  }

  function settle() {
    clearTimeout(rest);
    const { held } = status.get();
    if (held === null) return;
    // It may have been deleted meanwhile in another window.
    if (drawings.some(({ id }) => id === held.id)) apply({ put: [held], remove: [] });
    set({ held: null });
  }

  function select(id: string | null) {
    settle();
    set({ selected: id, part: "whole" });
  }

  function choose(tool: Kind | null) {
    settle();
    set({ ...IDLE, tool, cursor: tool === null ? null : axes.begin() });
    holder.style.cursor = tool === null ? "" : "crosshair";
  }

  function place(point: Point) {
    const { tool, placed } = status.get();
    if (tool === null) return;
    const points = [...placed, point];
    if (points.length < pointsOf(tool)) {
      set({ placed: points, cursor: point });
      return;
    }
    const drawing = { ...drawn(tool, points), id: newId() };
    choose(null);
    apply({ put: [drawing], remove: [] });
    if (!drawings.some(({ id }) => id === drawing.id)) return;
    select(drawing.id);
    options.onPlaced(drawing);
  }

  function selectedDrawing(): Drawing | undefined {
    const { selected, held } = status.get();
    return held ?? drawings.find(({ id }) => id === selected);
  }

  function removeSelected() {
    const drawing = selectedDrawing();
    if (!drawing) return;
    clearTimeout(rest);
    apply({ put: [], remove: [drawing.id] });
    set({ held: null, selected: null, part: "whole" });
  }

  function moveByKeys(bars: number, pixels: number) {
    const { tool, cursor, part } = status.get();
    if (tool !== null) {
      const from = cursor ?? axes.begin();
      if (from) set({ cursor: axes.stepped(from, bars, pixels) });
      return;
    }
    const drawing = selectedDrawing();
    if (!drawing) return;
    set({ held: withPoints(drawing, part, (point) => axes.stepped(point, bars, pixels)) });
    clearTimeout(rest);
    rest = setTimeout(settle, REST_MS);
  }

  function press(event: KeyboardEvent): boolean {
    const { tool, placed, cursor, selected, part } = status.get();
    const { key } = event;
    if (event.altKey) return false;
    if (event.ctrlKey || event.metaKey) {
      const letter = key.toLowerCase();
      if (letter !== "z" && letter !== "y") return false;
      settle();
      if (letter === "y" || event.shiftKey) options.onRedo();
      else options.onUndo();
      return true;
    }
    if (tool === null && selected === null) return false;
    const arrow = ARROWS[key];
    if (arrow) {
      const times = event.shiftKey ? LONG : 1;
      moveByKeys(arrow[0] * times, arrow[1] * times);
    } else if (key === "Escape") {
      if (tool === null) select(null);
      else if (placed.length > 0) set({ placed: [] });
      else choose(null);
    } else if (key === "Enter" || key === " ") {
      if (tool !== null) {
        if (cursor) place(cursor);
      } else set({ part: nextPart(part, selectedDrawing()?.points.length ?? 1) });
    } else if (key === "Delete" || key === "Backspace") {
      if (tool !== null) return false;
      removeSelected();
    } else return false;
    return true;
  }

  function onKey(event: KeyboardEvent) {
    // What moves the lines of orders has keys of its own.
    if (event.target !== holder || !press(event)) return;
    set({ isKeyed: true });
    event.preventDefault();
    event.stopPropagation();
  }

  /** The place of a pointer in the pane of the candles; null elsewhere. */
  function placeIn(event: PointerEvent): Place | null {
    const { left, top } = holder.getBoundingClientRect();
    const place = { x: event.clientX - left, y: event.clientY - top };
    const { width, height } = layer.size();
    return place.x >= 0 && place.y >= 0 && place.x <= width && place.y <= height ? place : null;
  }

  function pointOf(place: Place): Point | null {
    return axes.pointAt(snaps() ? axes.snapped(place) : place);
  }

  function onDown(event: PointerEvent) {
    if (event.button !== 0 || !event.isPrimary || !(event.target instanceof HTMLCanvasElement)) return;
    const at = placeIn(event);
    if (at === null) return;
    set({ isKeyed: false });
    if (status.get().tool === null) {
      const hit = layer.hit(at, event.pointerType === "mouse" ? TOLERANCE_PX : TOUCH_TOLERANCE_PX);
      if (hit === null) {
        if (status.get().selected !== null) select(null);
        return;
      }
      if (hit.drawing.id !== status.get().selected) select(hit.drawing.id);
      drag = { pointer: event.pointerId, from: at, moved: hit };
    } else {
      drag = { pointer: event.pointerId, from: at, moved: null };
      set({ cursor: pointOf(at) });
    }
    event.preventDefault();
    holder.setPointerCapture(event.pointerId);
    holder.focus({ preventScroll: true });
  }

  function onMove(event: PointerEvent) {
    const { tool, placed } = status.get();
    if (drag !== null && drag.pointer === event.pointerId) {
      const { left, top } = holder.getBoundingClientRect();
      const at = { x: event.clientX - left, y: event.clientY - top };
      if (drag.moved !== null) dragTo(drag.moved, drag.from, at);
      else {
        const isDragged = distance(at, drag.from) > DRAG_PX;
        const first = pointOf(drag.from);
        if (isDragged && first && tool !== null && placed.length === 0 && pointsOf(tool) > 1)
          set({ placed: [first] });
        set({ cursor: pointOf(at) });
      }
      return;
    }
    if (!(event.target instanceof HTMLCanvasElement)) return;
    const at = placeIn(event);
    if (tool !== null) {
      if (at !== null) set({ cursor: pointOf(at), isKeyed: false });
      return;
    }
    holder.style.cursor = at !== null && layer.hit(at, TOLERANCE_PX) !== null ? "pointer" : "";
  }

  function dragTo({ drawing, part }: { drawing: Drawing; part: Part }, from: Place, to: Place) {
    if (distance(from, to) === 0) return;
    set({
      held: withPoints(drawing, part, (point) => {
        if (part !== "whole") return pointOf(to) ?? point;
        const place = axes.placeOf(point);
        return (place && axes.pointAt({ x: place.x + to.x - from.x, y: place.y + to.y - from.y })) ?? point;
      }),
    });
  }

  function onUp(event: PointerEvent) {
    if (drag?.pointer !== event.pointerId) return;
    const { moved } = drag;
    drag = null;
    if (moved !== null) {
      settle();
      return;
    }
    const { cursor } = status.get();
    if (cursor) place(cursor);
  }

  function onCancel(event: PointerEvent) {
    if (drag?.pointer !== event.pointerId) return;
    drag = null;
    set({ held: null });
  }

  /** The chart must not move with what is dragged, and the browser not scroll. */
  function onNative(event: Event) {
    if (drag === null) return;
    event.stopPropagation();
    if (event.type.startsWith("touch")) event.preventDefault();
  }

  const signal = new AbortController();
  const listen = { capture: true, signal: signal.signal };
  holder.addEventListener("pointerdown", onDown, listen);
  holder.addEventListener("pointermove", onMove, listen);
  holder.addEventListener("pointerup", onUp, listen);
  holder.addEventListener("pointercancel", onCancel, listen);
  holder.addEventListener("keydown", onKey, listen);
  holder.addEventListener("mousedown", onNative, listen);
  for (const kind of ["touchstart", "touchmove"])
    holder.addEventListener(kind, onNative, { ...listen, passive: false });

  return {
    status,
    show(next, nextScheme) {
      [drawings, scheme] = [next, nextScheme];
      const { selected } = status.get();
      if (selected !== null && !next.some(({ id }) => id === selected)) set({ selected: null, held: null });
      paint();
    },
    choose,
    select,
    press,
    stop() {
      settle();
      leave();
      signal.abort();
      holder.style.cursor = "";
      layer.remove();
    },
  };
}

function nextPart(part: Part, points: number): Part {
  const next = part === "whole" ? 0 : part + 1;
  return points < 2 || next >= points ? "whole" : next;
}

/** The drawing with the points of `part` changed. */
function withPoints(drawing: Drawing, part: Part, change: (point: Point) => Point): Drawing {
  return {
    ...drawing,
    points: drawing.points.map((point, at) => (part === "whole" || part === at ? change(point) : point)),
  };
}

function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
