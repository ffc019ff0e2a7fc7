/** What a trader sets for this browser: the last market. */
import { keep, readKept } from "#lib/store.ts";

const SYMBOL_KEY = "openspot.trade.symbol";
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
