/** Staking products and stakes in words, and the rules of their forms. Pure. */
import { formatDecimal, isDecimal } from "#lib/decimal.ts";
import { several, t } from "#lib/language.ts";
import { readScaled } from "#lib/scaled.ts";
import { decimalForm } from "#lib/decimalForm.ts";
import type { Product, Stake } from "./queries.ts";
import { amountText } from "../parts/assetPlaces.ts";

/** The kind of a product: "Flexible", or "Locked for 30 days". */
export function kindOf({ type, lockDays }: Product): string {
  return type === "flexible"
    ? t("Flexible")
    : several(lockDays, "Locked for {count} day", "Locked for {count} days");
}

/** When a stake comes back, and what taking it back early costs. One that is there keeps what its product said then. */
export function wayBackOf({
  earlyRedemption,
  unbondingDays,
  type,
}: Pick<Stake, "earlyRedemption" | "unbondingDays" | "type">): string {
  const after =
    unbondingDays > 0
      ? several(unbondingDays, "It arrives {count} day later.", "It arrives {count} days later.")
      : t("It arrives at once.");
  if (type === "flexible") return t("Take it back at any time. {after}", { after });
  const before =
    earlyRedemption === "forfeits_rewards"
      ? t("Taken back before the end, it loses its rewards.")
      : earlyRedemption === "not_allowed"
        ? t("It cannot be taken back before the end.")
        : t("It can be taken back before the end.");
  return t("It comes back by itself. {before} {after}", { before, after });
}

/** Why an amount cannot be staked, or null. `free` is null while it is being read. */
export function stakeFaultOf(product: Product, amount: string, free: string | null): string | null {
  const { asset, minimum, maximum, remaining } = product;
  const value = amountOf(amount);
  if (typeof value === "string") return value;
  if (value < (readScaled(minimum) ?? 0n))
    return t("The least amount is {minimum} {asset}.", { minimum: formatDecimal(minimum), asset });
  if (value > (readScaled(maximum) ?? value))
    return t("The largest amount is {maximum} {asset}.", { maximum: formatDecimal(maximum), asset });
  if (value > (readScaled(remaining) ?? value))
    return t("The product has room for {remaining} {asset} more.", {
      remaining: formatDecimal(remaining),
      asset,
    });
  if (free !== null && value > (readScaled(free) ?? 0n))
    return t("Not enough {asset}: {amountText} is free.", { asset, amountText: amountText(free, asset) });
  return null;
}

/** Why an amount of a flexible stake cannot be taken back, or null. A product that is gone has no minimum. */
export function unstakeFaultOf(stake: Stake, amount: string, product: Product | undefined): string | null {
  const { asset, amount: staked } = stake;
  const value = amountOf(amount);
  if (typeof value === "string") return value;
  const left = (readScaled(staked) ?? 0n) - value;
  if (left < 0n) return t("At most {staked} {asset} is staked.", { staked: formatDecimal(staked), asset });
  if (product && left > 0n && left < (readScaled(product.minimum) ?? 0n))
    return t("Take all of it back, or leave at least {minimum} {asset}.", {
      minimum: formatDecimal(product.minimum),
      asset,
    });
  return null;
}

/** Why a stake cannot be taken back now, or undefined if it can. */
export function lockOf({ type, status, earlyRedemption }: Stake): string | undefined {
  if (status === "unbonding") return t("It is on its way back already.");
  if (status !== "active") return t("It is not active.");
  if (type === "locked" && earlyRedemption === "not_allowed") return t("It is locked until its end.");
  return undefined;
}

function amountOf(text: string): bigint | string {
  if (text === "") return t("Enter an amount.");
  const value = isDecimal(text) ? readScaled(text) : null;
  return value === null || value <= 0n
    ? t("An amount is {decimalForm}, more than zero.", { decimalForm: decimalForm() })
    : value;
}
