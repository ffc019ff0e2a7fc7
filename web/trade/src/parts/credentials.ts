/** The rules of the REST edge for addresses and passwords, said before anything is sent. */
import { t } from "#lib/language.ts";

export const passwordRule = () => t("10 to 128 characters. A few words are easier to remember than signs.");

/** What is wrong with an email address, or null. */
export function emailFault(email: string): string | null {
  if (email === "") return t("An email address is needed.");
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) ? null : t("An email address looks like name@example.com.");
}

/** What is wrong with a new password, or null. */
export function passwordFault(password: string): string | null {
  return password.length >= 10 && password.length <= 128 ? null : t("10 to 128 characters are needed.");
}

/** The token in the address of a mail's link; it stands behind the #, which no server sees. */
export function tokenOfAddress(): string {
  return new URLSearchParams(window.location.hash.slice(1)).get("token") ?? "";
}
