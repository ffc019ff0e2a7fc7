/** What tells the order that a user asked for from another one. Pure. */
import type { Draft, ListBody, OrderBody } from "./draft.ts";

/**
 * What the user asked for, as a text. Of an amount of money it is the amount: how much that is in the other asset may
 * be computed from prices that move.
 */
export function askedOf({ amount, unit }: Draft, body: OrderBody | ListBody): string {
  if (unit === "base") return JSON.stringify(body);
  return JSON.stringify([amount.trim(), body], (name, value: unknown) =>
    name === "quantity" ? undefined : value,
  );
}
