/** Says what a reduce-only order would close, and why it cannot be sent. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { decimalForm } from "#lib/decimalForm.ts";
import { t } from "#lib/language.ts";
import { readScaled, scaledText, toScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import { type Part, partFault } from "./closing.ts";
import type { MarginAccount, MarginPosition } from "./queries.ts";

/** The side of the order: a sell closes longs, a buy shorts. */
export interface ReducingDraft {
  side: "buy" | "sell";
  quantity: string;
}

export interface ReducingReview {
  /** What is wrong with the quantity. */
  fault: string | null;
  /** Why the order cannot be sent, or null. */
  blocked: string | null;
  /** How much can be closed. */
  open: bigint;
  /** What is closed of each open position, the oldest first; empty while the quantity is not right. */
  parts: readonly Part[];
}

/** The open positions that an order of this side closes, the oldest first. */
export function reducible(symbol: string, side: "buy" | "sell", account: MarginAccount): MarginPosition[] {
  return account.positions
    .filter((each) => each.symbol === symbol && each.side !== side && each.status === "open")
    .toReversed();
}

/** Checks a draft as the service does. */
export function reviewReducing(draft: ReducingDraft, market: Market, account: MarginAccount): ReducingReview {
  const { symbol } = market;
  const positions = reducible(symbol, draft.side, account);
  const open = positions.reduce((sum, { quantity }) => sum + toScaled(quantity), 0n);
  const nothing = { fault: null, open, parts: [] };
  if (account.status !== "active") return { ...nothing, blocked: t("Your account is being liquidated.") };
  if (positions.length === 0)
    return {
      ...nothing,
      blocked:
        draft.side === "sell"
          ? t("You have no open long of {symbol}.", { symbol })
          : t("You have no open short of {symbol}.", { symbol }),
    };
  if (draft.quantity.trim() === "") return { ...nothing, blocked: t("Enter a quantity.") };
  const parts = partsOf(draft.quantity, positions, market);
  return typeof parts === "string"
    ? { ...nothing, fault: parts, blocked: t("Correct the marked field.") }
    : { fault: null, blocked: null, open, parts };
}

/** How a quantity divides over positions, or why it does not. More than is open closes all. */
function partsOf(text: string, positions: readonly MarginPosition[], market: Market): Part[] | string {
  let left = readScaled(text.trim());
  if (left === null || left <= 0n)
    return t("write the quantity as {decimalForm}, more than zero", { decimalForm: decimalForm() });
  const parts: Part[] = [];
  for (const position of positions) {
    const whole = toScaled(position.quantity);
    const quantity = left < whole ? left : whole;
    const fault = quantity === 0n ? null : partFault(quantity, whole, market);
    if (fault !== null)
      return parts.length === 0
        ? fault
        : t("{part} of a position of {whole} is left: {fault}", {
            part: formatDecimal(scaledText(quantity)),
            whole: formatDecimal(scaledText(whole)),
            fault,
          });
    parts.push({ position, quantity });
    left -= quantity;
  }
  return parts;
}
