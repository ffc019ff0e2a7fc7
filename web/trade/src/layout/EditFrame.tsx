import { ActionIcon } from "@mantine/core";
import { XIcon } from "@primer/octicons-react";
import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { t } from "#lib/language.ts";
import { type Edge, hidden, moved, resized, stepped } from "./changes.ts";
import classes from "./EditFrame.module.css";
import { COLUMNS, type Layout, type Place, placed, right } from "./model.ts";
import { HEADING_ID, HELP_ID, say } from "./spoken.ts";
import { titleOf } from "./titles.ts";
import type { ScreenLayout } from "./useLayout.ts";

const GAP = 6;
/** A held panel this near to the upper or lower end of the window scrolls the page. */
const SCROLL_ZONE = 48;
const SCROLL_STEP = 16;
const EDGES: readonly Edge[] = ["left", "right", "bottom", "corner"];
const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

interface Hold {
  /** Null: the whole panel is moved. */
  edge: Edge | null;
  /** The layout as it was taken hold of: each movement is counted from there. */
  layout: Layout;
  place: Place;
  left: number;
  top: number;
  /** From one column or row to the next, in pixels. */
  column: number;
  row: number;
}

/** Lies over a panel while the layout is edited: moves, sizes and hides it by pointer and by keys. */
export default function EditFrame({ screen, place }: { screen: ScreenLayout; place: Place }) {
  const hold = useRef<Hold | null>(null);
  const { id } = place;
  const layout = screen.layout ?? [];
  const title = titleOf(id);

  function take(event: PointerEvent<HTMLElement>) {
    const grip = (event.target as Element).closest<HTMLElement>("[data-grip]");
    if (event.button !== 0 || !grip) return;
    const { width, height } = event.currentTarget.getBoundingClientRect();
    grip.setPointerCapture(event.pointerId);
    hold.current = {
      edge: EDGES.find((edge) => edge === grip.dataset.grip) ?? null,
      layout,
      place,
      left: event.pageX,
      top: event.pageY,
      column: (width + GAP) / place.w,
      row: (height + GAP) / place.h,
    };
  }

  function drag(event: PointerEvent<HTMLElement>) {
    const held = hold.current;
    if (!held) return;
    if (event.clientY > window.innerHeight - SCROLL_ZONE) window.scrollBy(0, SCROLL_STEP);
    else if (event.clientY < SCROLL_ZONE) window.scrollBy(0, -SCROLL_STEP);
    const columns = Math.round((event.pageX - held.left) / held.column);
    const rows = Math.round((event.pageY - held.top) / held.row);
    screen.change(
      held.edge === null
        ? moved(held.layout, id, held.place.x + columns, held.place.y + rows)
        : resized(held.layout, screen.width, id, held.edge, columns, rows),
    );
  }

  function release() {
    hold.current = null;
  }

  function leave() {
    if (hold.current) screen.change(hold.current.layout);
    release();
  }

  function hide() {
    document.getElementById(HEADING_ID)?.focus();
    screen.change(hidden(layout, id));
  }

  function steer(event: KeyboardEvent) {
    if (event.key === "Escape") leave();
    if (!ARROWS.includes(event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const next = event.shiftKey ? sized(event.key) : stepped(layout, id, event.key);
    screen.change(next);
    const after = placed(next).find((one) => one.id === id);
    if (after) say(after);
  }

  function sized(key: string): Layout {
    const by = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
    if (key === "ArrowUp" || key === "ArrowDown") return resized(layout, screen.width, id, "bottom", 0, by);
    // At the right end of the page its free edge is the left one.
    const edge = right(place) === COLUMNS && place.x > 0 ? "left" : "right";
    return resized(layout, screen.width, id, edge, by, 0);
  }

  return (
    <div
      className={classes.frame}
      onPointerDown={take}
      onPointerMove={drag}
      onPointerUp={release}
      onPointerCancel={leave}
    >
      <div className={classes.bar}>
        <button
          type="button"
          className={classes.handle}
          aria-label={t("Move {title}", { title })}
          aria-describedby={HELP_ID}
          data-grip="panel"
          onKeyDown={steer}
        >
          <span className={classes.grip} aria-hidden />
          {title}
        </button>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={28}
          aria-label={t("Hide {title}", { title })}
          disabled={layout.length === 1}
          onClick={hide}
        >
          <XIcon />
        </ActionIcon>
      </div>
      {EDGES.map((edge) => (
        <div key={edge} className={classes.edge} data-grip={edge} aria-hidden />
      ))}
    </div>
  );
}
