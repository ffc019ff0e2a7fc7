/** What a trader sets for this browser: the last market, favourites. */
import { createStore, keep, readKept, useStore } from "#lib/store.ts";

const SYMBOL_KEY = "openspot.trade.symbol";
const FAVOURITES_KEY = "openspot.trade.favourites";
const FIRST_SYMBOL = "BTC-USD";
const SYMBOL = /^[A-Z0-9]{2,10}-[A-Z0-9]{2,10}$/;
const storage = () => localStorage;

/** The market that was open last. */
export function keptSymbol(): string {
  const kept = readKept(storage, SYMBOL_KEY);
  return kept !== null && SYMBOL.test(kept) ? kept : FIRST_SYMBOL;
}

export function keepSymbol(symbol: string): void {
  keep(storage, SYMBOL_KEY, symbol);
}

const favourites = createStore<readonly string[]>(
  (readKept(storage, FAVOURITES_KEY) ?? "").split(" ").filter((name) => SYMBOL.test(name)),
);

export function useFavourites(): readonly string[] {
  return useStore(favourites);
}

/** Add a market to the favourites, or take it out. */
export function toggleFavourite(symbol: string): void {
  const before = favourites.get();
  const next = before.includes(symbol) ? before.filter((name) => name !== symbol) : [...before, symbol];
  favourites.set(next);
  keep(storage, FAVOURITES_KEY, next.length > 0 ? next.join(" ") : null);
}
