/** Rules for moving collateral, borrowing and repaying: the largest amounts, and why a request is not possible. Pure. */
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { several, t } from "#lib/language.ts";
import { ONE, readScaled, scaledText, toScaled } from "#lib/scaled.ts";
import { decimalForm } from "#lib/decimalForm.ts";
import {
  boundMargin,
  changed,
  countedOf,
  cutTo,
  figuresOf,
  floorDivide,
  holdingsOf,
  isRunning,
  isUnderWay,
  LEVERAGE_MAX,
  levelOf,
  type Marks,
  securedFiguresOf,
  unsureOf,
  WARNING_PERCENT,
} from "./figures.ts";
import type { MarginAccount, MarginLoan } from "./queries.ts";
import { amountText } from "../parts/assetPlaces.ts";

/** The balance of an asset in the margin account; zeros if there is none. */
export function balanceOf(account: MarginAccount | null, asset: string) {
  const none = { asset, total: "0", available: "0", borrowed: "0", interest: "0", isOffered: true };
  return account?.balances.find((balance) => balance.asset === asset) ?? none;
}

/** The value of a typed amount, or why it is not one. The asset has `places` decimals. */
export function readAmount(text: string, places: number): bigint | string {
  if (text === "") return t("enter an amount");
  const value = readScaled(text);
  if (value === null || value <= 0n)
    return t("write the amount as {decimalForm}, more than zero", { decimalForm: decimalForm() });
  return placesOf(text.replace(/0+$/, "")) > places
    ? t("write at most {places} digits after the point", { places })
    : value;
}

/** An amount that is not known: what is waited for. */
export interface Waiting {
  why: "unpriced" | "unsure";
  reason: string;
}

const UNPRICED: Waiting = {
  why: "unpriced",
  get reason() {
    return t("wait until every asset of the account has a price");
  },
};
const unsure = (reason: string): Waiting => ({ why: "unsure", reason });

/** The largest amount that can leave the account. It is not known where prices are needed and missing or not sure. */
export function mostOut(account: MarginAccount, asset: string, marks: Marks): bigint | Waiting {
  const { available, isOffered } = balanceOf(account, asset);
  const free = toScaled(available);
  const all = holdingsOf(account.balances);
  if (!isOffered || [...all.values()].every(({ owed }) => owed === 0n)) return free;
  const own = all.get(asset) ?? { held: 0n, owed: 0n };
  const price = marks.get(asset);
  const others = securedFiguresOf(new Map([...all].filter(([name]) => name !== asset)), marks);
  if (others === null || (price === undefined && own.owed > 0n)) return UNPRICED;
  const reason = unsureOf(all, marks, [asset]);
  if (reason !== null) return unsure(reason);
  const debt = others.debt + own.owed * (price?.securedHigh ?? 0n);
  // The level stays above the warning level, and the equity covers the margin of the positions.
  const aboveWarning = floorDivide(debt * WARNING_PERCENT, 100n) + 1n;
  const withPositions = debt + boundMargin(account.positions) * ONE;
  const needed = (aboveWarning > withPositions ? aboveWarning : withPositions) - others.assets;
  if (needed <= 0n) return free;
  // An asset without a price secures nothing, so the others have to.
  if (price === undefined || needed > countedOf(own, price) * price.securedLow) return 0n;
  const most = own.held - (needed + price.securedLow - 1n) / price.securedLow;
  return most < free ? most : free;
}

/**
 * The most of an asset that may be borrowed: a debt may reach ten times the equity, the equity covers the margin of the
 * open positions, and all accounts together borrow no more than can be bought back. The borrowed asset counts low as a
 * holding and high as a debt, and the day's median bounds both.
 */
export function mostBorrowed(account: MarginAccount, asset: string, marks: Marks): bigint | Waiting {
  const holdings = holdingsOf(account.balances);
  const figures = securedFiguresOf(holdings, marks);
  const price = marks.get(asset);
  if (figures === null || price === undefined) return UNPRICED;
  const reason = unsureOf(holdings, marks, [asset]);
  if (reason !== null) return unsure(reason);
  const equity = figures.assets - figures.debt;
  const spread = price.securedHigh - price.securedLow;
  const beyondPositions = equity - boundMargin(account.positions) * ONE;
  const room = LEVERAGE_MAX * equity - figures.debt;
  if (beyondPositions < 0n || room <= 0n) return 0n;
  const bounds = [room / (price.securedHigh + LEVERAGE_MAX * spread)];
  if (spread > 0n) bounds.push(beyondPositions / spread);
  if (price.borrowable !== null) bounds.push(price.borrowable);
  return bounds.reduce((least, bound) => (bound < least ? bound : least));
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
  const before = holdingsOf(account?.balances ?? []);
  const { isOffered } = balanceOf(account, asset);
  const figures = figuresOf(isOffered ? changed(before, asset, change) : before, marks);
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
  }: { asset: string; direction: "in" | "out"; free: bigint | Waiting | null; places: number },
): string | null {
  if (asset === "") return t("choose an asset");
  if (typeof amount === "string") return amount;
  if (free === null) return t("wait for your balances");
  if (typeof free !== "bigint") return free.reason;
  if (amount <= free) return null;
  const words = { most: formatDecimal(cutTo(free, places)), asset };
  return direction === "in"
    ? t("lower the amount: {most} {asset} can be moved in", words)
    : t("lower the amount: {most} {asset} can be moved out", words);
}

/** Why a loan cannot be taken, or null. */
export function borrowFault(
  amount: bigint | string,
  { asset, most, places }: { asset: string; most: bigint | Waiting; places: number },
): string | null {
  if (asset === "") return t("choose an asset");
  if (typeof amount === "string") return amount;
  if (typeof most !== "bigint") return most.reason;
  if (amount <= most) return null;
  return t("lower the amount: you can borrow {cutTo} {asset}", {
    cutTo: formatDecimal(cutTo(most, places)),
    asset,
  });
}

/** Why a repayment cannot be made, or null. A null `amount` repays everything. */
export function repayFault(
  amount: bigint | string | null,
  { asset, owed, free }: { asset: string; owed: bigint; free: bigint },
): string | null {
  if (typeof amount === "string") return amount;
  const paid = amount === null || amount > owed ? owed : amount;
  if (paid <= free) return null;
  const has = t("the margin account has {amountText} {asset} free", {
    amountText: amountText(scaledText(free), asset),
    asset,
  });
  return amount === null
    ? t("repay a part, or move {asset} in first: {has}", { asset, has })
    : t("lower the amount: {has}", { has });
}

/** Why an account cannot be closed, or null. */
export function closeFault({ status, positions, loans, balances }: MarginAccount): string | null {
  if (status !== "active") return t("it is being liquidated");
  const open = positions.filter(isUnderWay).length;
  if (open > 0)
    return open === 1
      ? t("it has an open position")
      : several(open, "it has {count} open position", "it has {count} open positions");
  const owed = loans.filter(isRunning).length;
  if (owed > 0)
    return owed === 1 ? t("it has a loan") : several(owed, "it has {count} loan", "it has {count} loans");
  const held = balances.filter(({ total }) => toScaled(total) > 0n).map(({ asset }) => asset);
  return held.length > 0 ? t("it holds {held}", { held: held.join(", ") }) : null;
}
