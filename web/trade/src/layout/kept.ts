/**
 * The layouts that are kept, one for each width class; without one the screen has its standard. With a session they are
 * the account's, else this browser's.
 */
import { useMediaQuery } from "@mantine/hooks";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { createStore, keep, readKept, type Store, useStore } from "#lib/store.ts";
import { type Client, returned, type Schemas, useExchange } from "../api/client.ts";
import { currentSession, useSession } from "../api/session.ts";
import { type Layout, layoutOf, readLayout, type WidthClass } from "./model.ts";

type Kept = Pick<Schemas["ScreenLayout"], "width" | "panels" | "version">;

export interface KeptLayout {
  /** Null: the standard. */
  layout: Layout | null;
  /** What the account counts it by, 0 if it has none. */
  version: number;
}

const storage = () => localStorage;
const keyOf = (width: WidthClass) => `openspot.trade.layout.${width}`;
/** What the account kept when it was last read: it is shown until it is read again. */
const ACCOUNT_KEY = "openspot.trade.layouts";

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

/** How the layouts of whoever is logged in are read. */
export const accountLayouts = (rest: Client) => {
  const userId = currentSession()?.userId ?? null;
  return queryOptions({
    queryKey: ["layouts", userId],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/layouts", { signal })),
    enabled: userId !== null,
    // Another device may have changed them.
    refetchOnWindowFocus: true,
  });
};

/** The layout that is kept for a width class. */
export function useKeptLayout(width: WidthClass): KeptLayout {
  const exchange = useExchange();
  const { session } = useSession();
  const userId = session?.userId ?? null;
  const { data } = useQuery(accountLayouts(exchange.rest));
  const earlier = useMemo(() => (userId === null ? [] : remembered(userId)), [userId]);
  const text = useStore(texts[width]);
  useEffect(() => {
    if (data && userId !== null)
      keep(storage, ACCOUNT_KEY, data.length > 0 ? JSON.stringify({ userId, layouts: data }) : null);
  }, [data, userId]);
  return useMemo(() => {
    const known: readonly Kept[] = userId === null ? [] : (data ?? earlier);
    const found = known.find((layout) => layout.width === width);
    // What this browser keeps is on its way to an account that has none.
    return {
      layout: found ? layoutOf(found.panels, width) : readLayout(text, width),
      version: found?.version ?? 0,
    };
  }, [userId, data, earlier, text, width]);
}

function remembered(userId: string): readonly Kept[] {
  try {
    const found = JSON.parse(readKept(storage, ACCOUNT_KEY) ?? "null") as {
      userId: string;
      layouts: Kept[];
    } | null;
    return found?.userId === userId ? found.layouts.filter(({ panels }) => Array.isArray(panels)) : [];
  } catch {
    return [];
  }
}

/** Whether this browser keeps a layout. */
export const hasKeptHere = () => Object.values(texts).some((text) => text.get() !== null);

/** The layout that this browser keeps for a width class, or null. */
export const keptHere = (width: WidthClass) => readLayout(texts[width].get(), width);

/** Keep a layout for a width class in this browser; null forgets it. */
export function keepHere(width: WidthClass, layout: Layout | null): void {
  const text = layout && JSON.stringify(layout);
  texts[width].set(text);
  keep(storage, keyOf(width), text);
}
