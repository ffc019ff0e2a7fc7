/** Whether a market is traded with one's own funds or on margin, kept in this browser for each market. */
import { createStore, keep, readKept, useStore } from "#lib/store.ts";
import type { Market } from "../api/queries.ts";

export type Mode = "spot" | "margin";

const KEY = "openspot.trade.margin";
/** Of more markets the ones that were chosen last are kept. */
export const SYMBOLS_MAX = 100;
const storage = () => localStorage;

/** The markets in margin mode that a kept text names, oldest first. */
export function symbolsOf(text: string | null): readonly string[] {
  try {
    const kept: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string").slice(-SYMBOLS_MAX) : [];
  } catch {
    return [];
  }
}

/** The markets in margin mode after a choice for one of them. */
export function withMode(symbols: readonly string[], symbol: string, mode: Mode): readonly string[] {
  const others = symbols.filter((known) => known !== symbol);
  return mode === "margin" ? [...others, symbol].slice(-SYMBOLS_MAX) : others;
}

/** Null until something is chosen on this page. */
const store = createStore<readonly string[] | null>(null);
const current = () => store.get() ?? symbolsOf(readKept(storage, KEY));

/** The mode of a market. One that is not offered on margin is traded with one's own funds, whatever was chosen. */
export function useMode(market: Market | undefined): Mode {
  useStore(store);
  return modeOf(current(), market);
}

export function modeOf(
  symbols: readonly string[],
  market: Pick<Market, "symbol" | "margin"> | undefined,
): Mode {
  return market?.margin && symbols.includes(market.symbol) ? "margin" : "spot";
}

export function chooseMode(symbol: string, mode: Mode): void {
  const symbols = withMode(current(), symbol, mode);
  store.set(symbols);
  keep(storage, KEY, symbols.length === 0 ? null : JSON.stringify(symbols));
}
