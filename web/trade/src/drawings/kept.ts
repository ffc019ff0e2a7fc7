/** The drawings that this browser keeps: those of whoever has no session. */
import { createStore, keep, readKept } from "#lib/store.ts";

const KEY = "openspot.trade.drawings.";
const OPEN_KEY = "openspot.trade.drawing";
const storage = () => localStorage;

/** By symbol the text that is kept, once it has been asked for: a browser may refuse to keep anything. */
const texts = createStore<ReadonlyMap<string, string | null>>(new Map());

// Another window of this browser has drawn.
window.addEventListener("storage", ({ key }) => {
  if (key?.startsWith(KEY)) remember(key.slice(KEY.length), readKept(storage, key));
});

function remember(symbol: string, text: string | null): void {
  texts.set(new Map(texts.get()).set(symbol, text));
}

/** What is kept for a market. */
export function keptText(symbol: string): string | null {
  const known = texts.get().get(symbol);
  return known === undefined ? readKept(storage, KEY + symbol) : known;
}

/** What is kept for a market now: another window may have changed it a moment ago. */
export function newestText(symbol: string): string | null {
  return readKept(storage, KEY + symbol) ?? texts.get().get(symbol) ?? null;
}

export function keepText(symbol: string, text: string | null): void {
  keep(storage, KEY + symbol, text);
  remember(symbol, text);
}

export const followTexts = (listener: () => void) => texts.subscribe(listener);

/** Whether the tools are shown. */
export const areToolsOpen = createStore(readKept(storage, OPEN_KEY) !== null);

export function openTools(isOpen: boolean): void {
  areToolsOpen.set(isOpen);
  keep(storage, OPEN_KEY, isOpen ? "yes" : null);
}
