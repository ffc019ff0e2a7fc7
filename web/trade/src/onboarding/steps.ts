/** The first steps on the exchange. Pure. */
import { t } from "#lib/language.ts";

export interface Step {
  id: "mail" | "factor" | "deposit" | "order";
  title: string;
  /** Why, in a sentence. */
  reason: string;
  isDone: boolean;
  /** Where it is done, and what the link says. */
  way: { href: string; label: string };
}

export interface Progress {
  emailVerified: boolean;
  mfaEnabled: boolean;
  hasDeposited: boolean;
  hasOrdered: boolean;
}

/** What a new user does first, in order. Trading on this exchange starts at `market`. */
export function firstSteps(
  { emailVerified, mfaEnabled, hasDeposited, hasOrdered }: Progress,
  market: string,
): Step[] {
  return [
    {
      id: "mail",
      title: t("Confirm your e-mail address"),
      reason: t(
        "Follow the link in the mail that came after your registration. Security mails go to this address.",
      ),
      isDone: emailVerified,
      way: { href: "/account/security", label: t("Send it again") },
    },
    {
      id: "factor",
      title: t("Turn on two-factor authentication"),
      reason: t("Whoever learns your password then still cannot log in or withdraw."),
      isDone: mfaEnabled,
      way: { href: "/account/security", label: t("Turn it on") },
    },
    {
      id: "deposit",
      title: t("Make a deposit"),
      reason: t("An address of your own for each asset, or a bank transfer."),
      isDone: hasDeposited,
      way: { href: "/wallet?deposit=any", label: t("Deposit") },
    },
    {
      id: "order",
      title: t("Place your first order"),
      reason: t("The form shows what it costs, what is held and what you get, before you place it."),
      isDone: hasOrdered,
      way: { href: `/${market}`, label: t("Trade") },
    },
  ];
}
