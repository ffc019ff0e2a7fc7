/** How the order book is shown: which sides, and what its totals count. Kept for this browser. */
import { createStore, keep, readKept, useStore } from "#lib/store.ts";

export interface BookView {
  sides: "both" | "bids" | "asks";
  /** Totals in the quote asset; otherwise in the base asset. */
  inQuote: boolean;
}

const KEY = "openspot.trade.book";
const storage = () => localStorage;

/** The view that a kept text holds, such as "bids quote"; what it holds wrongly is as at first. */
export function readView(text: string | null): BookView {
  const [sides, unit] = (text ?? "").split(" ");
  return { sides: sides === "bids" || sides === "asks" ? sides : "both", inQuote: unit === "quote" };
}

const view = createStore(readView(readKept(storage, KEY)));

export const useBookView = (): BookView => useStore(view);

export function changeBookView(changes: Partial<BookView>): void {
  const next = { ...view.get(), ...changes };
  view.set(next);
  keep(storage, KEY, `${next.sides} ${next.inQuote ? "quote" : "base"}`);
}
