/** How many indicators the chart shows. The catalogue, their values and lines are loaded once there is one. */
import { createStore, readKept } from "#lib/store.ts";

export const KEY = "openspot.trade.indicators";

/** The count of a kept choice, as far as it can be told without the catalogue. */
export function countOf(text: string | null): number {
  return text?.match(/"isShown":true/g)?.length ?? 0;
}

export const shown = createStore(countOf(readKept(() => localStorage, KEY)));
