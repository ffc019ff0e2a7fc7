/** The rules of the withdrawal form: why an amount cannot be withdrawn, and how much arrives. Pure. */
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { several, t } from "#lib/language.ts";
import { readScaled, scaledText } from "#lib/scaled.ts";
import { decimalForm } from "#lib/decimalForm.ts";
import type { Verification } from "../account/queries.ts";
import type { Network } from "../api/queries.ts";
import type { SavedAddress } from "./queries.ts";
import { amountText } from "../parts/assetPlaces.ts";

export interface Draft {
  /** The chosen network of an asset; undefined while none is chosen. */
  network: Network | undefined;
  address: SavedAddress | undefined;
  /** The amount as the user typed it. */
  amount: string;
  /** The free funds of the asset; null while they are being read. */
  free: string | null;
  verification: Verification | undefined;
  /** Milliseconds since 1970. */
  now: number;
}

/** Why the withdrawal cannot be requested, or null. */
export function faultOf({ network, address, amount, free, verification, now }: Draft): string | null {
  if (verification && isZero(verification.dailyWithdrawalLimit))
    return verification.level === "verified"
      ? t("Withdrawals are switched off.")
      : t("Verification is needed before you can withdraw.");
  if (!network) return t("Choose what to withdraw.");
  const { asset } = network;
  if (!network.withdrawalsEnabled) return pausedText(network);
  if (!address) return t("Choose where it goes.");
  if (now < Date.parse(address.availableAt))
    return t("The address still waits. Choose another one, or come back.");
  if (amount === "") return t("Enter an amount.");
  const value = readScaled(amount);
  if (value === null || value <= 0n)
    return t("An amount is {decimalForm}, more than zero.", { decimalForm: decimalForm() });
  if (placesOf(amount) > network.places)
    return several(
      network.places,
      "{asset} has at most {count} digit after the point.",
      "{asset} has at most {count} digits after the point.",
      { asset },
    );
  const least = readScaled(network.minimum) ?? 0n;
  if (value < least)
    return t("The least amount is {minimum} {asset}.", { minimum: formatDecimal(network.minimum), asset });
  if (value <= (readScaled(network.fee) ?? 0n))
    return t("The amount must be more than the fee of {fee} {asset}.", {
      fee: formatDecimal(network.fee),
      asset,
    });
  if (free !== null && value > (readScaled(free) ?? 0n))
    return t("Not enough {asset}: {amountText} is free.", { asset, amountText: amountText(free, asset) });
  return null;
}

/** That withdrawals over a network are paused, with what the operators say of it. */
export function pausedText({ asset, network, notice }: Network): string {
  const text = t("Withdrawals of {asset} over {network} are paused.", { asset, network });
  return notice === "" ? text : `${text} ${notice}`;
}

/** The amount that arrives after the fee, or null if the fee takes all of it. */
export function arrivingOf(amount: string, network: Network): string | null {
  const [value, fee] = [readScaled(amount), readScaled(network.fee)];
  return value === null || fee === null || value <= fee ? null : scaledText(value - fee);
}

/** The largest amount of the free funds that can be withdrawn: cut to the decimals of the asset. */
export function mostOf(free: string, places: number): string {
  const [whole = "0", fraction = ""] = free.split(".");
  const kept = fraction.slice(0, places).replace(/0+$/, "");
  return kept ? `${whole}.${kept}` : whole;
}

function isZero(text: string): boolean {
  return readScaled(text) === 0n;
}
