/** The value of balances at the last prices. */
import type { Balance, Ticker } from "../api/queries.ts";
import { multiplyScaled, readScaled } from "#lib/scaled.ts";

export interface Holding {
  balance: Balance;
  /** In the valuation asset, or null if no market has a price for it. */
  value: bigint | null;
}

export interface Valuation {
  holdings: readonly Holding[];
  total: bigint;
  /** Assets with a balance and without a price. */
  unpriced: readonly string[];
}

/** Balances with their value in `unit`, the most valuable first. */
export function valueOf(balances: readonly Balance[], tickers: readonly Ticker[], unit: string): Valuation {
  const prices = new Map(tickers.map(({ symbol, lastPrice }) => [symbol, lastPrice]));
  const holdings = balances.map((balance) => {
    const amount = readScaled(balance.total) ?? 0n;
    const price = balance.asset === unit ? "1" : prices.get(`${balance.asset}-${unit}`);
    const scaled = price ? readScaled(price) : null;
    return { balance, value: amount === 0n ? 0n : scaled === null ? null : multiplyScaled(amount, scaled) };
  });
  holdings.sort((a, b) => {
    const [left, right] = [a.value ?? -1n, b.value ?? -1n];
    return left === right ? a.balance.asset.localeCompare(b.balance.asset) : left > right ? -1 : 1;
  });
  return {
    holdings,
    total: holdings.reduce((sum, { value }) => sum + (value ?? 0n), 0n),
    unpriced: holdings.filter(({ value }) => value === null).map(({ balance }) => balance.asset),
  };
}
