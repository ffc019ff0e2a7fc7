/** Staking products and stakes in words, and the rules of their forms. Pure. */
import { plural } from "#lib/counts.ts";
import { formatDecimal, isDecimal } from "#lib/decimal.ts";
import { readScaled } from "#lib/scaled.ts";
import { decimalForm } from "#lib/separators.ts";
import type { Product, Stake } from "./queries.ts";
import { amountText } from "../parts/assetPlaces.ts";

/** The kind of a product: "Flexible", or "Locked for 30 days". */
export function kindOf({ type, lockDays }: Product): string {
  return type === "flexible" ? "Flexible" : `Locked for ${plural(lockDays, "day")}`;
}

/** When a stake comes back, and what taking it back early costs. */
export function wayBackOf({ earlyRedemption, unbondingDays, type }: Product): string {
  const after =
    unbondingDays > 0 ? `It arrives ${plural(unbondingDays, "day")} later.` : "It arrives at once.";
  if (type === "flexible") return `Take it back at any time. ${after}`;
  const before =
    earlyRedemption === "forfeits_rewards"
      ? "Taken back before the end, it loses its rewards."
      : earlyRedemption === "not_allowed"
        ? "It cannot be taken back before the end."
        : "It can be taken back before the end.";
  return `It comes back by itself. ${before} ${after}`;
}

/** Why an amount cannot be staked, or null. `free` is null while it is being read. */
export function stakeFaultOf(product: Product, amount: string, free: string | null): string | null {
  const { asset, minimum, maximum, remaining } = product;
  const value = amountOf(amount);
  if (typeof value === "string") return value;
  if (value < (readScaled(minimum) ?? 0n)) return `The least amount is ${formatDecimal(minimum)} ${asset}.`;
  if (value > (readScaled(maximum) ?? value))
    return `The largest amount is ${formatDecimal(maximum)} ${asset}.`;
  if (value > (readScaled(remaining) ?? value))
    return `The product has room for ${formatDecimal(remaining)} ${asset} more.`;
  if (free !== null && value > (readScaled(free) ?? 0n))
    return `Not enough ${asset}: ${amountText(free, asset)} is free.`;
  return null;
}

/** Why an amount of a flexible stake cannot be taken back, or null. */
export function unstakeFaultOf({ asset, amount: staked }: Stake, amount: string): string | null {
  const value = amountOf(amount);
  if (typeof value === "string") return value;
  return value > (readScaled(staked) ?? 0n) ? `At most ${formatDecimal(staked)} ${asset} is staked.` : null;
}

/** Why a stake cannot be taken back now, or undefined if it can. */
export function lockOf({ type, status }: Stake, product: Product | undefined): string | undefined {
  if (status === "unbonding") return "It is on its way back already.";
  if (status !== "active") return "It is not active.";
  if (type === "locked" && product?.earlyRedemption === "not_allowed") return "It is locked until its end.";
  return undefined;
}

function amountOf(text: string): bigint | string {
  if (text === "") return "Enter an amount.";
  const value = isDecimal(text) ? readScaled(text) : null;
  return value === null || value <= 0n ? `An amount is ${decimalForm()}, more than zero.` : value;
}
