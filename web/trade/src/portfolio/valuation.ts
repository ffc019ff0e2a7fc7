/** The value of balances at the last prices. */
import type { Balance, Ticker } from "../api/queries.ts";
import { multiplyScaled, readScaled } from "#lib/scaled.ts";

export interface Holding {
  balance: Balance;
  /** In the valuation asset, or null if no market has one. */
  price: bigint | null;
  /** In the valuation asset, or null if no market has a price for it. */
  value: bigint | null;
}

export interface Valuation {
  holdings: readonly Holding[];
  total: bigint;
  /** Assets with a balance and without a price. */
  unpriced: readonly string[];
}

/** What is owned outside of the wallet, such as stakes. */
export interface Elsewhere {
  name: string;
  amounts: readonly { asset: string; amount: string }[];
}

export interface ElsewhereValue {
  name: string;
  value: bigint;
  /** Its assets without a price, which are not counted. */
  unpriced: readonly string[];
}

/** The price of an asset in `unit` by the last trades, scaled; null if no market has one. */
function pricesIn(tickers: readonly Ticker[], unit: string): (asset: string) => bigint | null {
  const last = new Map(tickers.map(({ symbol, lastPrice }) => [symbol, lastPrice]));
  return (asset) => readScaled((asset === unit ? "1" : last.get(`${asset}-${unit}`)) ?? "");
}

/** What is owned outside of the wallet, with its value in `unit`; what is nothing is left out. */
export function valueElsewhere(
  parts: readonly Elsewhere[],
  tickers: readonly Ticker[],
  unit: string,
): ElsewhereValue[] {
  const priceOf = pricesIn(tickers, unit);
  return parts
    .map(({ name, amounts }) => {
      const owned = amounts.map(({ asset, amount }) => ({
        asset,
        amount: readScaled(amount) ?? 0n,
        price: priceOf(asset),
      }));
      return {
        name,
        value: owned.reduce((sum, { amount, price }) => sum + multiplyScaled(amount, price ?? 0n), 0n),
        unpriced: [
          ...new Set(
            owned.filter(({ amount, price }) => amount !== 0n && price === null).map(({ asset }) => asset),
          ),
        ],
      };
    })
    .filter(({ value, unpriced }) => value !== 0n || unpriced.length > 0);
}

/** Balances with their value in `unit`, the most valuable first. */
export function valueOf(balances: readonly Balance[], tickers: readonly Ticker[], unit: string): Valuation {
  const priceOf = pricesIn(tickers, unit);
  const holdings = balances.map((balance) => {
    const amount = readScaled(balance.total) ?? 0n;
    const price = priceOf(balance.asset);
    return {
      balance,
      price,
      value: amount === 0n ? 0n : price === null ? null : multiplyScaled(amount, price),
    };
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
