/** What a dialog asks for, as a text that tells it from another request, and the fields of a dialog from it. Pure. */

/** A move of collateral that a dialog is opened for. */
export interface Move {
  direction: "in" | "out";
  /** An empty text lets the user choose. */
  asset: string;
}

/** A close of a whole position has no quantity. */
export const askedOfClosing = (quantity: string | null): string => quantity ?? "whole";

/** The quantity of what was asked for: null for the whole position. */
export const quantityOf = (asked: string): string | null => (asked === "whole" ? null : asked);

/** Collateral to be moved, of which the amount is a text as it was typed. */
export interface AskedMove extends Move {
  amount: string;
}

export function askedOfMove({ direction, asset, amount }: AskedMove): string {
  return JSON.stringify([direction, asset, amount]);
}

/** The move that a dialog begins with: the one of unknown outcome, if the dialog is for such a move, else `first`. */
export function moveOf(asked: string | null, first: Move): AskedMove {
  if (asked !== null) {
    const [direction, asset, amount] = JSON.parse(asked) as [Move["direction"], string, string];
    if (direction === first.direction && (first.asset === "" || first.asset === asset))
      return { direction, asset, amount };
  }
  return { ...first, amount: "" };
}
