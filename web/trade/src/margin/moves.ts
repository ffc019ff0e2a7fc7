/** Rules for moving collateral, borrowing and repaying: the largest amounts, and why a request is not possible. Pure. */
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { ONE, readScaled, scaledText, toScaled } from "#lib/scaled.ts";
import {
  boundMargin,
  changed,
  cutTo,
  figuresOf,
  holdingsOf,
  isRunning,
  isUnderWay,
  LEVERAGE_MAX,
  levelOf,
  type Marks,
  WARNING_PERCENT,
} from "./figures.ts";
import type { MarginAccount, MarginLoan } from "./queries.ts";

/** The balance of an asset in the margin account; zeros if there is none. */
export function balanceOf(account: MarginAccount | null, asset: string) {
  const none = { asset, total: "0", available: "0", borrowed: "0", interest: "0" };
  return account?.balances.find((balance) => balance.asset === asset) ?? none;
}

/** The value of a typed amount, or why it is not one. The asset has `places` decimals. */
export function readAmount(text: string, places: number): bigint | string {
  if (text === "") return "enter an amount";
  const value = readScaled(text);
  if (value === null || value <= 0n) return "write the amount as digits with a point, more than zero";
  return placesOf(text.replace(/0+$/, "")) > places
    ? `write at most ${places} digits after the point`
    : value;
}

/** The largest amount that can leave the account. Null if the account owes something and another asset has no price. */
export function mostOut(account: MarginAccount, asset: string, marks: Marks): bigint | null {
  const free = toScaled(balanceOf(account, asset).available);
  const all = holdingsOf(account.balances);
  if ([...all.values()].every(({ owed }) => owed === 0n)) return free;
  const mark = marks.get(asset);
  // An asset without a price secures nothing, so the account is judged without it.
  const figures = figuresOf(mark === undefined ? changed(all, asset, { held: -free }) : all, marks);
  if (figures === null) return null;
  const { assets, debt } = figures;
  // The level stays above the warning level, and the equity covers the margin of the positions.
  const aboveWarning = floorDivide(assets * 100n - debt * WARNING_PERCENT - 1n, 100n);
  const beyondPositions = assets - debt - boundMargin(account.positions) * ONE;
  const value = aboveWarning < beyondPositions ? aboveWarning : beyondPositions;
  if (value < 0n) return 0n;
  if (mark === undefined) return free;
  const most = value / mark;
  return most < free ? most : free;
}

/** `a / b` rounded down, below zero too; `b` is positive. */
function floorDivide(a: bigint, b: bigint): bigint {
  return a >= 0n ? a / b : -((-a + b - 1n) / b);
}

/**
 * The most of an asset that may be borrowed: a debt may reach ten times the equity, and the equity covers the margin
 * of the open positions. Null without prices.
 */
export function mostBorrowed(account: MarginAccount, asset: string, marks: Marks): bigint | null {
  const figures = figuresOf(holdingsOf(account.balances), marks);
  const mark = marks.get(asset);
  if (figures === null || mark === undefined) return null;
  const equity = figures.assets - figures.debt;
  if (equity < boundMargin(account.positions) * ONE) return 0n;
  const room = LEVERAGE_MAX * equity - figures.debt;
  return room <= 0n ? 0n : room / mark;
}

/** Unpaid principal and interest of a loan. The service adds the interest of the started minute. */
export function owedOf({ outstanding, interest }: MarginLoan): bigint {
  return toScaled(outstanding) + toScaled(interest);
}

export type LevelAfter = bigint | null | "unpriced";

/** The level after a change of one asset; null without a debt. */
export function levelAfter(
  account: MarginAccount | null,
  marks: Marks,
  asset: string,
  change: { held?: bigint; owed?: bigint },
): LevelAfter {
  const figures = figuresOf(changed(holdingsOf(account?.balances ?? []), asset, change), marks);
  return figures === null ? "unpriced" : levelOf(figures);
}

/** Why collateral cannot be moved, or null. `free` is the largest amount that can be; null while it is not known. */
export function collateralFault(
  amount: bigint | string,
  {
    asset,
    direction,
    free,
    places,
  }: { asset: string; direction: "in" | "out"; free: bigint | null; places: number },
): string | null {
  if (asset === "") return "choose an asset";
  if (typeof amount === "string") return amount;
  if (free === null)
    return direction === "in" ? "wait for your balances" : "wait until every asset has a price";
  if (amount <= free) return null;
  return `lower the amount: ${formatDecimal(cutTo(free, places))} ${asset} can be moved ${direction}`;
}

/** Why a loan cannot be taken, or null. */
export function borrowFault(
  amount: bigint | string,
  { asset, most, places }: { asset: string; most: bigint | null; places: number },
): string | null {
  if (asset === "") return "choose an asset";
  if (typeof amount === "string") return amount;
  if (most === null) return "wait until every asset of the account has a price";
  if (amount <= most) return null;
  return `lower the amount: your equity carries ${formatDecimal(cutTo(most, places))} ${asset}`;
}

/** Why a repayment cannot be made, or null. A null `amount` repays everything. */
export function repayFault(
  amount: bigint | string | null,
  { asset, owed, free }: { asset: string; owed: bigint; free: bigint },
): string | null {
  if (typeof amount === "string") return amount;
  const paid = amount === null || amount > owed ? owed : amount;
  if (paid <= free) return null;
  const has = `the margin account has ${formatDecimal(scaledText(free))} ${asset} free`;
  return amount === null ? `repay a part, or move ${asset} in first: ${has}` : `lower the amount: ${has}`;
}

/** Why an account cannot be closed, or null. */
export function closeFault({ status, positions, loans, balances }: MarginAccount): string | null {
  if (status !== "active") return "it is being liquidated";
  const open = positions.filter(isUnderWay).length;
  if (open > 0) return `it has ${open === 1 ? "an open position" : `${open} open positions`}`;
  const owed = loans.filter(isRunning).length;
  if (owed > 0) return `it has ${owed === 1 ? "a loan" : `${owed} loans`}`;
  const held = balances.filter(({ total }) => toScaled(total) > 0n).map(({ asset }) => asset);
  return held.length > 0 ? `it holds ${held.join(", ")}` : null;
}
