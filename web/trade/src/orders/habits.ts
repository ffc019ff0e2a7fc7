/** How a person likes to place orders, kept in this browser for each account: sizes of their own, and one click. */
import { useMemo } from "react";
import { isPositive, isDecimal } from "#lib/decimal.ts";
import { createStore, keep, readKept, useStore } from "#lib/store.ts";

export interface Habits {
  /** Amounts of the base asset that a button fills in, by symbol. */
  sizes: Readonly<Record<string, readonly string[]>>;
  /** Whether orders can be sent without a review. */
  oneClick: boolean;
}

export const SIZES_MAX = 4;
const NONE: Habits = { sizes: {}, oneClick: false };
const keyOf = (userId: string) => `openspot.trade.habits.${userId}`;
const storage = () => localStorage;

/** The habits that a kept text writes. What it lacks, or has wrong, is as at the first visit. */
export function habitsOf(text: string | null): Habits {
  try {
    const kept = JSON.parse(text ?? "{}") as { sizes?: unknown; oneClick?: unknown } | null;
    const sizes = Object.entries(kept?.sizes ?? {}).map(([symbol, list]) => [
      symbol,
      Array.isArray(list) ? list.filter(isSize).slice(0, SIZES_MAX) : [],
    ]);
    return { sizes: Object.fromEntries(sizes) as Habits["sizes"], oneClick: kept?.oneClick === true };
  } catch {
    return NONE;
  }
}

const isSize = (text: unknown): text is string =>
  typeof text === "string" && isDecimal(text) && isPositive(text);

/** The sizes of a text such as "0.1 0.5 1", or null where one of them is none, or there are too many. */
export function sizesOf(text: string): string[] | null {
  const sizes = text.split(/\s+/).filter((part) => part !== "");
  return sizes.length <= SIZES_MAX && sizes.every(isSize) ? [...new Set(sizes)] : null;
}

const store = createStore<{ userId: string; habits: Habits }>({ userId: "", habits: NONE });
/** The account whose one-click mode is unlocked. Each load of the page begins with none. */
const unlockedFor = createStore<string | null>(null);

/** The habits of an account; without one there are none. */
export function useHabits(userId: string | undefined): Habits {
  const { userId: known, habits } = useStore(store);
  return useMemo(() => {
    if (userId === undefined) return NONE;
    return known === userId ? habits : habitsOf(readKept(storage, keyOf(userId)));
  }, [userId, known, habits]);
}

/** Change the habits of an account. One-click mode begins locked. */
export function changeHabits(userId: string, before: Habits, changes: Partial<Habits>): void {
  const habits = { ...before, ...changes };
  if (changes.oneClick !== undefined) unlockedFor.set(null);
  keep(storage, keyOf(userId), JSON.stringify(habits));
  store.set({ userId, habits });
}

/** Whether an account's orders are sent without a review. */
export function useOneClick(userId: string | undefined): boolean {
  const { oneClick } = useHabits(userId);
  return useStore(unlockedFor) === userId && oneClick;
}

export function lock(): void {
  unlockedFor.set(null);
}

export function unlock(userId: string): void {
  unlockedFor.set(userId);
}
