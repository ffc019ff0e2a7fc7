import { createElement, type ReactNode } from "react";
import { shownLanguage } from "#lib/language.ts";
import { RefusedError } from "./errors.ts";
import { sayReason } from "./messages.ts";

/**
 * Why the exchange refused a field, without the field: "must be positive"; null if no reason names it. `sentence` makes
 * a sentence of that. What has no words in the language of the page is marked as English.
 */
export function fieldReason(
  error: unknown,
  field: string,
  sentence: (reason: string) => string = (reason) => reason,
): ReactNode {
  const reason = error instanceof RefusedError ? error.reasonFor(field) : null;
  if (reason === null) return null;
  const { detail, language = shownLanguage() } = sayReason(reason);
  if (language === shownLanguage()) return sentence(detail);
  const whole = sayReason(`${field} ${reason}`);
  return whole.language ? createElement("span", { lang: language }, reason) : whole.detail;
}
