/** What a pointer or a key takes hold of to move the line of an order. */
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import type { Market } from "../api/queries.ts";
import { canvasValue } from "./candles.ts";
import classes from "./ownHandle.module.css";
import { movedPrice, nearestPrice } from "./ownPrices.ts";

interface HandleOptions {
  market: Market;
  /** The price that is drawn at so many pixels from the top of the chart. */
  priceAt: (y: number) => number | null;
  /** The line is held elsewhere, for now. */
  onMove: (price: string) => void;
  /** The line is let go at another price than its order's. */
  onDrop: (price: string) => void;
}

export interface Handle {
  /** Name the order, and the price that it has. */
  describe: (name: string, home: string) => void;
  /** Stand at so many pixels from the top; null: out of sight. */
  place: (y: number | null) => void;
  /** Whether somebody is moving it. */
  isHeld: () => boolean;
  remove: () => void;
}

/** A handle in `holder`. Escape lets the line return to its order. */
export function createHandle(holder: HTMLElement, options: HandleOptions): Handle {
  const { market, priceAt, onMove, onDrop } = options;
  const places = placesOf(market.tickSize);
  const element = document.createElement("div");
  element.className = classes.handle ?? "";
  element.tabIndex = 0;
  element.setAttribute("role", "slider");
  element.setAttribute("aria-orientation", "vertical");
  let home = "0";
  let name = "";
  /** Where it is held; null while nobody does. */
  let held: string | null = null;
  /** The top of the chart in the window, while a pointer holds it. */
  let top: number | null = null;
  /** Where it stands: undefined before it is placed, null while it is out of sight. */
  let placed: number | null | undefined;

  function speak() {
    const price = held ?? home;
    element.setAttribute("aria-label", t("Price of {name}", { name }));
    element.setAttribute("aria-valuenow", price);
    element.setAttribute("aria-valuemin", "0");
    element.setAttribute("aria-valuemax", String(canvasValue(price) * 2));
    const text = `${formatDecimal(price, places)} ${market.quoteAsset}`;
    element.setAttribute(
      "aria-valuetext",
      held === null ? text : t("{text}, Enter to review, Escape to leave it", { text }),
    );
  }

  function hold(price: string | null) {
    held = price;
    onMove(price ?? home);
    speak();
  }

  function drop() {
    top = null;
    const price = held;
    if (price === null) return;
    held = null;
    speak();
    if (price === home) onMove(home);
    else onDrop(price);
  }

  function escape() {
    top = null;
    hold(null);
  }

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    // Or the chart would be dragged with it.
    event.stopPropagation();
    event.preventDefault();
    element.focus();
    element.setPointerCapture(event.pointerId);
    ({ top } = holder.getBoundingClientRect());
  });
  element.addEventListener("pointermove", (event) => {
    if (top === null) return;
    const value = priceAt(event.clientY - top);
    if (value !== null) hold(nearestPrice(value.toFixed(places), market.tickSize));
  });
  element.addEventListener("pointerup", drop);
  element.addEventListener("pointercancel", escape);
  for (const kind of ["mousedown", "touchstart"])
    element.addEventListener(kind, (event) => event.stopPropagation(), { passive: true });
  // The click that follows a touch would meet the review, which is open by then, and close it.
  element.addEventListener("touchend", (event) => event.preventDefault(), { passive: false });
  element.addEventListener("keydown", (event) => {
    const steps = { ArrowUp: 1n, ArrowDown: -1n, PageUp: 10n, PageDown: -10n }[event.key];
    if (steps !== undefined) {
      const by = event.shiftKey ? steps * 10n : steps;
      hold(movedPrice(held ?? home, market.tickSize, by));
    } else if (event.key === "Enter") drop();
    else if (event.key === "Escape" && held !== null) escape();
    else return;
    event.stopPropagation();
    event.preventDefault();
  });
  element.addEventListener("blur", () => {
    if (held !== null && top === null) escape();
  });
  holder.append(element);

  return {
    describe(nextName, nextHome) {
      [name, home] = [nextName, nextHome];
      speak();
    },
    place(y) {
      const next = y === null ? null : Math.round(y);
      // Each drawing of the chart asks, and most leave it where it is.
      if (next === placed) return;
      placed = next;
      element.hidden = next === null;
      if (next !== null) element.style.transform = `translateY(${String(next)}px)`;
    },
    isHeld: () => held !== null,
    remove: () => element.remove(),
  };
}
