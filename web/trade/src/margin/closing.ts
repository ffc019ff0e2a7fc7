/** Estimates what closing a position, or a part of it, would do, and says why a part cannot be closed. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { decimalForm } from "#lib/decimalForm.ts";
import { t } from "#lib/language.ts";
import { multiplyScaled, readScaled, scaledText, toScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import {
  changed,
  fairPriceOf,
  figuresOf,
  holdingsOf,
  levelOf,
  liquidationPrice,
  marksOf,
} from "./figures.ts";
import { balanceOf, type LevelAfter, owedOf } from "./moves.ts";
import type { MarginAccount, MarginLoan, MarginPosition } from "./queries.ts";

const BPS = 10_000n;

/** The account after the orders, if all of them are traded at the fair price. */
export interface Closing {
  /** What stays open of the positions. */
  left: bigint;
  /** What stays owed of their loans, with interest. */
  owed: bigint;
  level: LevelAfter;
  liquidationPrice: bigint | null;
}

/** Why a position cannot be closed now, or null. */
export function whyNotClosed({ status }: MarginPosition, account: MarginAccount): string | null {
  if (account.status === "liquidating") return t("The account is being liquidated");
  if (status === "open") return null;
  if (status === "opening") return t("It is being opened");
  if (status === "closing") return t("It is being closed");
  return status === "liquidating" ? t("It is being liquidated") : t("It has ended already");
}

/** The quantity of a typed part, or why it is none. */
export function readPart(
  text: string,
  position: MarginPosition,
  market: Market | undefined,
): bigint | string {
  const whole = toScaled(position.quantity);
  if (text.trim() === "") return t("enter a quantity");
  const part = readScaled(text.trim());
  if (part === null || part <= 0n)
    return t("write the quantity as {decimalForm}, more than zero", { decimalForm: decimalForm() });
  if (part > whole)
    return t("lower the quantity: {quantity} are open", { quantity: formatDecimal(scaledText(whole)) });
  return (market && partFault(part, whole, market)) ?? part;
}

/** Why `part` of a position of `whole` cannot be closed by itself, or null. */
export function partFault(part: bigint, whole: bigint, market: Market): string | null {
  if (part === whole) return null;
  if (part % toScaled(market.lotSize) !== 0n)
    return t("write the quantity in steps of {lotSize}", { lotSize: formatDecimal(market.lotSize) });
  const least = toScaled(market.quantityMin ?? "0");
  const words = { least: formatDecimal(scaledText(least)) };
  if (part < least) return t("raise the quantity: an order has at least {least}", words);
  return whole - part < least
    ? t("close all of it, or leave at least {least}, the least quantity of an order", words)
    : null;
}

/** So much of a position is traded back. */
export interface Part {
  position: MarginPosition;
  quantity: bigint;
}

/** The loan of a position. */
export function loanOf({ loanId }: MarginPosition, { loans }: MarginAccount): MarginLoan | undefined {
  return loans.find((loan) => loan.loanId === loanId);
}

/**
 * What closing parts of positions of one market and side would lead to; null while there is no price. Each loan is
 * repaid as the service does it, one position after the other.
 */
export function closingOf(parts: readonly Part[], account: MarginAccount, takerFee: number): Closing | null {
  const [first] = parts;
  if (first === undefined) return null;
  const { symbol, side } = first.position;
  const [base = "", quote = ""] = symbol.split("-");
  const marks = marksOf(account);
  const price = fairPriceOf(symbol, marks);
  if (price === null) return null;
  const isLong = side === "buy";
  const loanAsset = isLong ? quote : base;
  let after = holdingsOf(account.balances);
  let free = toScaled(balanceOf(account, loanAsset).available);
  let [left, owed] = [0n, 0n];
  for (const { position, quantity } of parts) {
    const value = multiplyScaled(quantity, price);
    const fee = (value * BigInt(takerFee)) / BPS;
    const gained = isLong ? value - fee : quantity;
    const kept = toScaled(position.quantity) - quantity;
    after = changed(after, base, { held: isLong ? -quantity : quantity });
    after = changed(after, quote, { held: isLong ? gained : -value - fee });
    free += gained;
    left += kept;
    const loan = loanOf(position, account);
    if (!loan) continue;
    const due = owedOf(loan);
    // A part repays from what it brings, the whole from all that is free.
    const repaid = [due, free, ...(kept > 0n ? [gained] : [])].reduce((least, one) =>
      one < least ? one : least,
    );
    after = changed(after, loanAsset, { held: -repaid, owed: -repaid });
    free -= repaid;
    owed += due - repaid;
  }
  const figures = figuresOf(after, marks);
  return {
    left,
    owed,
    level: figures === null ? "unpriced" : levelOf(figures),
    liquidationPrice: liquidationPrice(after, marks, base, quote),
  };
}
