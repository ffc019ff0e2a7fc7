/** The value of balances at the fair prices, in whole cents: what a page shows adds up. */
import type { AssetPrice, Balance } from "../api/queries.ts";
import { isDecimal } from "#lib/decimal.ts";
import { floorTo, multiplyScaled, readScaled, toScaled } from "#lib/scaled.ts";

const CENT = 10n ** 16n;

export interface Holding {
  balance: Balance;
  /** In US dollars, or null if the asset has none. */
  price: bigint | null;
  /** In US dollars, or null if the asset has no price. */
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

/** A value cut towards zero to whole cents. */
export function cents(value: bigint): bigint {
  return value < 0n ? -floorTo(-value, CENT) : floorTo(value, CENT);
}

/** A decimal of any length, cut towards zero to whole cents; zero if it is none. */
export function readDecimalCents(text: string): bigint {
  if (!isDecimal(text)) return 0n;
  const [whole = "", fraction = ""] = text.split(".");
  return toScaled(`${whole}.${fraction.slice(0, 2)}0`);
}

/** The price of an asset in US dollars, scaled; null if it has none. */
function priceIn(prices: readonly AssetPrice[]): (asset: string) => bigint | null {
  const known = new Map(prices.map(({ asset, price }) => [asset, price]));
  return (asset) => readScaled(known.get(asset) ?? "");
}

/** What is owned outside of the wallet, with its value in US dollars; what is nothing is left out. */
export function valueElsewhere(parts: readonly Elsewhere[], prices: readonly AssetPrice[]): ElsewhereValue[] {
  const priceOf = priceIn(prices);
  return parts
    .map(({ name, amounts }) => {
      const owned = amounts.map(({ asset, amount }) => ({
        asset,
        amount: readScaled(amount) ?? 0n,
        price: priceOf(asset),
      }));
      return {
        name,
        value: owned.reduce((sum, { amount, price }) => sum + cents(multiplyScaled(amount, price ?? 0n)), 0n),
        unpriced: [
          ...new Set(
            owned.filter(({ amount, price }) => amount !== 0n && price === null).map(({ asset }) => asset),
          ),
        ],
      };
    })
    .filter(({ value, unpriced }) => value !== 0n || unpriced.length > 0);
}

/** Balances with their value in US dollars, the most valuable first. */
export function valueOf(balances: readonly Balance[], prices: readonly AssetPrice[]): Valuation {
  const priceOf = priceIn(prices);
  const holdings = balances.map((balance) => {
    const amount = readScaled(balance.total) ?? 0n;
    const price = priceOf(balance.asset);
    return {
      balance,
      price,
      value: amount === 0n ? 0n : price === null ? null : cents(multiplyScaled(amount, price)),
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
