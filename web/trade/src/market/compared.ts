/** The markets that the chart compares with its own; this browser keeps them. */
import { useMemo } from "react";
import { createStore, keep, readKept, useStore } from "#lib/store.ts";
import { toggled } from "./comparison.ts";
import { readNames } from "./watchlist.ts";

export const COMPARED_MAX = 3;
const KEY = "openspot.trade.compared";
const storage = () => localStorage;

const compared = createStore<readonly string[]>(readNames(readKept(storage, KEY)).slice(0, COMPARED_MAX));

/** What the market `symbol` is compared with. */
export function useCompared(symbol: string): readonly string[] {
  const all = useStore(compared);
  return useMemo(() => all.filter((name) => name !== symbol), [all, symbol]);
}

/** Compare with one market more, or with one less, on the page of the market `shown`. */
export function toggleCompared(symbol: string, shown: string): void {
  const after = toggled(compared.get(), symbol, shown, COMPARED_MAX);
  compared.set(after);
  keep(storage, KEY, after.length > 0 ? after.join(" ") : null);
}
