/** The layouts that this browser keeps, one for each width class; without one the screen has its standard. */
import { useMediaQuery } from "@mantine/hooks";
import { useMemo } from "react";
import { createStore, keep, readKept, type Store, useStore } from "#lib/store.ts";
import { type Layout, readLayout, type WidthClass } from "./model.ts";

const storage = () => localStorage;
const keyOf = (width: WidthClass) => `openspot.trade.layout.${width}`;

const textStore = (width: WidthClass) => createStore(readKept(storage, keyOf(width)));
const texts: Readonly<Record<WidthClass, Store<string | null>>> = {
  tablet: textStore("tablet"),
  laptop: textStore("laptop"),
  wide: textStore("wide"),
};

/** The class of the window: where the standard screen has other columns, a layout of one's own is another one. */
export function useWidthClass(): WidthClass {
  const isTablet = useMediaQuery("(max-width: 75em)", false, { getInitialValueInEffect: false });
  const isWide = useMediaQuery("(min-width: 110em)", false, { getInitialValueInEffect: false });
  return isTablet ? "tablet" : isWide ? "wide" : "laptop";
}

/** The layout that is kept for a width class, or null: the standard. */
export function useKeptLayout(width: WidthClass): Layout | null {
  const text = useStore(texts[width]);
  return useMemo(() => readLayout(text, width), [text, width]);
}

/** Keep a layout for a width class; null returns to the standard. */
export function keepLayout(width: WidthClass, layout: Layout | null): void {
  const text = layout && JSON.stringify(layout);
  texts[width].set(text);
  keep(storage, keyOf(width), text);
}
