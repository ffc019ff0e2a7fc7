import { useComputedColorScheme, VisuallyHidden } from "@mantine/core";
import type { IChartApi, ISeriesApi } from "lightweight-charts";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { t } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import { createStore, keep, readKept, useStore } from "#lib/store.ts";
import type { Schemas } from "../api/client.ts";
import { createAxes, type Prices } from "./axes.ts";
import { type Controller, createController, IDLE, type Status, type Style } from "./controller.ts";
import { COLOURS, type Drawing, WIDTHS } from "./drawing.ts";
import { areToolsOpen } from "./kept.ts";
import { createLayer } from "./layer.ts";
import { SelectedBar } from "./SelectedBar.tsx";
import { Tools } from "./Tools.tsx";
import { useDrawings } from "./useDrawings.ts";
import { kindName, pointText, titleOf } from "./words.ts";

const SNAP_KEY = "openspot.trade.drawing.snap";
const STYLE_KEY = "openspot.trade.drawing.style";
const storage = () => localStorage;

const snapping = createStore(readKept(storage, SNAP_KEY) !== null);
const styles = createStore<Style>(readStyle(readKept(storage, STYLE_KEY)));

const IDLE_STATUS = createStore(IDLE);

/** The style that was chosen last: "orange 3". */
function readStyle(text: string | null): Style {
  const [colour, width] = (text ?? "").split(" ");
  return {
    colour: COLOURS.find((name) => name === colour) ?? "blue",
    width: WIDTHS.find((one) => String(one) === width) ?? 2,
  };
}

function keepStyle(style: Style): void {
  styles.set(style);
  keep(storage, STYLE_KEY, `${style.colour} ${String(style.width)}`);
}

interface DrawingsProps {
  symbol: string;
  chart: IChartApi;
  series: ISeriesApi<"Candlestick">;
  /** The chart's element, which has the focus while keys draw. */
  holder: HTMLElement;
  candles: RefObject<readonly Schemas["Candle"][]>;
  /** Of a candle, in milliseconds. */
  length: number;
  prices: Prices;
  /** Says how many drawings there are. */
  onCount: (count: number) => void;
}

/** The drawings of a market on its chart, and the tools to draw with. */
export default function Drawings(props: DrawingsProps) {
  const { symbol, chart, series, holder, candles, length, prices, onCount } = props;
  const zone = useZone();
  const scheme = useComputedColorScheme("light");
  const list = useDrawings(symbol);
  const { drawings, apply } = list;
  const isOpen = useStore(areToolsOpen);
  const snaps = useStore(snapping);
  const latest = useRef(list);
  const [made] = useState(() => createStore<Controller | null>(null));
  const controller = useStore(made);
  const status = useStore(controller?.status ?? IDLE_STATUS);
  /** The text that has just been placed: its words are typed next. */
  const [asked, setAsked] = useState<string | null>(null);

  useEffect(() => {
    latest.current = list;
  });

  // Before the effect of the chart, which takes itself away.
  useLayoutEffect(() => {
    const axes = createAxes(chart, series, { candles: () => candles.current, length, prices });
    const layer = createLayer(series, axes, prices);
    const created = createController({
      holder,
      axes,
      layer,
      newText: () => t("Text"),
      style: () => styles.get(),
      snaps: () => snapping.get(),
      onChange: (change) => latest.current.apply(change),
      onUndo: () => latest.current.undo(),
      onRedo: () => latest.current.redo(),
      onPlaced: ({ id, kind }) => setAsked(kind === "text" ? id : null),
    });
    made.set(created);
    return () => {
      made.set(null);
      created.stop();
    };
  }, [made, chart, series, holder, candles, length, prices]);

  useEffect(() => {
    controller?.show(drawings, scheme);
  }, [controller, drawings, scheme]);
  useEffect(() => {
    onCount(drawings.length);
  }, [drawings.length, onCount]);
  useEffect(() => () => onCount(0), [onCount]);

  const revise = useCallback(
    (drawing: Drawing, changes: Partial<Drawing>) => {
      const next = { ...drawing, ...changes };
      if (changes.colour !== undefined || changes.width !== undefined)
        keepStyle({ colour: next.colour, width: next.width });
      apply({ put: [next], remove: [] });
    },
    [apply],
  );
  const remove = useCallback((ids: readonly string[]) => apply({ put: [], remove: ids }), [apply]);
  const edit = useCallback(
    (id: string) => {
      controller?.select(id);
      holder.focus({ preventScroll: true });
    },
    [controller, holder],
  );

  if (!controller) return null;
  const selected = status.held ?? drawings.find(({ id }) => id === status.selected);
  return (
    <>
      {isOpen && (
        <Tools
          list={list}
          tool={status.tool}
          snaps={snaps}
          onTool={(tool) => {
            controller.choose(tool);
            if (tool !== null) holder.focus({ preventScroll: true });
          }}
          onSnap={() => {
            snapping.set(!snaps);
            keep(storage, SNAP_KEY, snaps ? null : "yes");
          }}
          onKey={(event) => controller.press(event)}
          onRevise={revise}
          onRemove={remove}
          onEdit={edit}
        />
      )}
      {selected && status.tool === null && (
        <SelectedBar
          key={selected.id}
          drawing={selected}
          asksText={asked === selected.id}
          onRevise={(changes) => {
            // What keys have moved is kept before.
            controller.select(selected.id);
            revise(selected, changes);
          }}
          onRemove={() => {
            controller.select(null);
            remove([selected.id]);
            holder.focus({ preventScroll: true });
          }}
          onClose={() => {
            setAsked(null);
            controller.select(null);
            holder.focus({ preventScroll: true });
          }}
        />
      )}
      <VisuallyHidden role="status">{spoken(status, selected, zone)}</VisuallyHidden>
    </>
  );
}

/** What is being done, for those who do not see it. */
function spoken(status: Status, selected: Drawing | undefined, zone: string): string {
  const { tool, placed, cursor, part, isKeyed } = status;
  if (!isKeyed) return "";
  if (tool !== null) {
    const point = cursor ? pointText(cursor, zone) : "";
    return t("{kind}, point {number} at {point}. Arrow keys move it, Enter places it, Escape ends.", {
      kind: kindName(tool),
      number: String(placed.length + 1),
      point,
    });
  }
  if (!selected) return "";
  const title = titleOf(selected);
  if (part === "whole") {
    return t("{title} at {points}. Arrow keys move it, Enter chooses a point of it, Delete deletes it.", {
      title,
      points: selected.points.map((one) => pointText(one, zone)).join(" – "),
    });
  }
  const point = selected.points[part];
  return t("{title}, point {number} at {point}. Arrow keys move it, Enter chooses the next one.", {
    title,
    number: String(part + 1),
    point: point ? pointText(point, zone) : "",
  });
}
