/** What a change makes of the watchlists that a page has read, their names, and what a browser keeps of one. Pure. */
import { t } from "#lib/language.ts";
import type { Schemas } from "../api/client.ts";

type Watchlist = Schemas["Watchlist"];

export interface Change {
  add: readonly string[];
  remove: readonly string[];
}

/** The name of the watchlist that the stars are until another one is chosen. */
export const FAVOURITES = "favourites";
/** The names that the edge takes. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
/** Markets of one list: the bound of the edge, which refuses more. */
export const MARKETS_MAX = 500;
const SYMBOL = /^[A-Z0-9]{2,10}-[A-Z0-9]{2,10}$/;

/** The symbols of a kept text, each once. */
export function readNames(text: string | null): string[] {
  return [...new Set((text ?? "").split(" ").filter((name) => SYMBOL.test(name)))];
}

/** Of the symbols that a browser keeps those that the account can take: the edge refuses unknown ones. */
export function movable(kept: readonly string[], known: readonly string[]): string[] {
  const markets = new Set(known);
  return kept.filter((symbol) => markets.has(symbol)).slice(0, MARKETS_MAX);
}

/** The names of all lists, favourites first, which are there before they are made. */
export function namesOf(lists: readonly Watchlist[] | undefined): string[] {
  const others = (lists ?? []).map(({ name }) => name).filter((name) => name !== FAVOURITES);
  return [FAVOURITES, ...others.sort()];
}

/** What a text lacks to be the name of one more list, or null. An empty one lacks nothing yet. */
export function nameFault(typed: string, names: readonly string[]): string | null {
  const name = typed.trim();
  if (name === "") return null;
  if (!NAME.test(name))
    return t("Up to 32 small letters, digits, - and _. It begins with a letter or a digit.");
  return names.includes(name) ? t("You have a list of this name already.") : null;
}

export function symbolsIn(lists: readonly Watchlist[] | undefined, name: string): readonly string[] {
  return lists?.find((list) => list.name === name)?.symbols ?? [];
}

/** The lists as the edge will have them after a change; the first change makes the list. */
export function changed(
  lists: readonly Watchlist[] | undefined,
  name: string,
  { add, remove }: Change,
): Watchlist[] {
  const before = lists?.find((list) => list.name === name) ?? { name, symbols: [], updatedAt: "" };
  const symbols = [...new Set([...before.symbols.filter((symbol) => !remove.includes(symbol)), ...add])];
  return [...(lists ?? []).filter((list) => list.name !== name), { ...before, symbols }];
}
