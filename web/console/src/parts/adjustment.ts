/** What an adjustment does to a balance, before the engine is asked. */
import { addDecimals, subtractDecimals } from "#lib/arithmetic.ts";
import { compareDecimals, isDecimal, isPositive, placesOf } from "#lib/decimal.ts";
import { withDecimalSign } from "#lib/separators.ts";

export type AdjustmentType = "DEPOSIT" | "WITHDRAW";

export interface Preview {
  total: { before: string; after: string };
  available: { before: string; after: string };
  /** Whether more is taken out than is available, so that the engine will refuse. */
  isTooMuch: boolean;
}

const AMOUNT_PLACES_MAX = 18;

/** Why a text is no amount, or an empty text. */
export function amountFault(amount: string): string {
  if (amount === "") return "Enter an amount.";
  if (!isDecimal(amount)) return `Enter a plain decimal, such as ${withDecimalSign("12.50")}.`;
  if (!isPositive(amount)) return "The amount must be more than zero; the type says which way it goes.";
  if (placesOf(amount) > AMOUNT_PLACES_MAX) return `At most ${AMOUNT_PLACES_MAX} digits after the point.`;
  return "";
}

/** The balance before and after an adjustment by a sound amount. */
export function previewAdjustment(
  balance: { total: string; available: string } | undefined,
  type: AdjustmentType,
  amount: string,
): Preview {
  const { total, available } = balance ?? { total: "0", available: "0" };
  const change = type === "DEPOSIT" ? addDecimals : subtractDecimals;
  return {
    total: { before: total, after: change(total, amount) },
    available: { before: available, after: change(available, amount) },
    isTooMuch: type === "WITHDRAW" && compareDecimals(amount, available) === 1,
  };
}
