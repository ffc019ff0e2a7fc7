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

/** The account after the order, if all of it is traded at the fair price. */
export interface Closing {
  /** What stays open. */
  left: bigint;
  /** What stays owed of the loan, with its interest. */
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
  if (part === whole || market === undefined) return part;
  if (part % toScaled(market.lotSize) !== 0n)
    return t("write the quantity in steps of {lotSize}", { lotSize: formatDecimal(market.lotSize) });
  const least = toScaled(market.quantityMin ?? "0");
  const words = { least: formatDecimal(scaledText(least)) };
  if (part < least) return t("raise the quantity: an order has at least {least}", words);
  return whole - part < least
    ? t("close all of it, or leave at least {least}, the least quantity of an order", words)
    : part;
}

/** What closing `quantity` would lead to; null while there is no price. The loan is repaid as the service does it. */
export function closingOf(
  quantity: bigint,
  position: MarginPosition,
  loan: MarginLoan | undefined,
  account: MarginAccount,
  takerFee: number,
): Closing | null {
  const [base = "", quote = ""] = position.symbol.split("-");
  const marks = marksOf(account);
  const price = fairPriceOf(position.symbol, marks);
  if (price === null) return null;
  const isLong = position.side === "buy";
  const value = multiplyScaled(quantity, price);
  const fee = (value * BigInt(takerFee)) / BPS;
  const gained = isLong ? value - fee : quantity;
  const left = toScaled(position.quantity) - quantity;
  let after = holdingsOf(account.balances);
  after = changed(after, base, { held: isLong ? -quantity : quantity });
  after = changed(after, quote, { held: isLong ? gained : -value - fee });
  const owed = loan ? owedOf(loan) : 0n;
  let repaid = 0n;
  if (loan) {
    const free = toScaled(balanceOf(account, loan.asset).available) + gained;
    // A part repays from what it brings, the whole from all that is free.
    repaid = [owed, free, ...(left > 0n ? [gained] : [])].reduce((least, one) => (one < least ? one : least));
    after = changed(after, loan.asset, { held: -repaid, owed: -repaid });
  }
  const figures = figuresOf(after, marks);
  return {
    left,
    owed: owed - repaid,
    level: figures === null ? "unpriced" : levelOf(figures),
    liquidationPrice: liquidationPrice(after, marks, base, quote),
  };
}
