/** What a market offers beside trading, as an operator types it: names of services and their terms. */
import { parseCount } from "#lib/counts.ts";
import { compareDecimals, isDecimal, isPositive } from "#lib/decimal.ts";
import { type MarketTerms, type TermsChange, typedOn } from "./listings.ts";

export type OfferName = NonNullable<MarketTerms["offers"]>[number];
type EarlyRedemption = NonNullable<MarketTerms["staking"]>["earlyRedemption"];

interface OfferDescription {
  name: OfferName;
  title: string;
  /** What it means for a market's two assets. */
  describe: (base: string, quote: string) => string;
}

export const OFFERS: readonly OfferDescription[] = [
  {
    name: "conversions",
    title: "Conversions",
    describe: (base, quote) =>
      `${base} into ${quote} and back, at the fair price. Where an operator listed the market, a venue or the operator must confirm that price; until then no quote is given.`,
  },
  {
    name: "payments",
    title: "Payments",
    describe: (base) => `Users pay in ${base}, on the terms below and those of the platform's file.`,
  },
  {
    name: "staking",
    title: "Staking",
    describe: (base) => `Users stake ${base}, on the terms below and those of the platform's file.`,
  },
];

export const REDEMPTIONS: readonly { value: EarlyRedemption; label: string }[] = [
  { value: "allowed", label: "Allowed" },
  { value: "forfeits_rewards", label: "Forfeits the rewards" },
  { value: "not_allowed", label: "Not allowed" },
];

type Kind = "amount" | "amountOrNone" | "count" | "redemption";

interface TermField {
  name: string;
  title: string;
  description: string;
  kind: Kind;
}

/** The terms of payments, each with its rule. */
export const PAYMENT_FIELDS: readonly TermField[] = [
  { name: "minimum", title: "Least payment", description: "Above 0.", kind: "amount" },
  { name: "maximum", title: "Largest payment", description: "Not below the least.", kind: "amount" },
  { name: "feeBps", title: "Fee in basis points", description: "0 to 9,999 of the amount.", kind: "count" },
  {
    name: "feeFixed",
    title: "Fixed fee",
    description: "0 or more. The whole fee on the least payment is less than it.",
    kind: "amountOrNone",
  },
];

/** The terms of stakes, each with its rule. */
export const STAKING_FIELDS: readonly TermField[] = [
  {
    name: "apr",
    title: "Yearly rate",
    description:
      "As a decimal: 0.04 is 4 %. At most 6 decimal places, and no more than the platform's settings allow.",
    kind: "amountOrNone",
  },
  {
    name: "lockDays",
    title: "Locked days",
    description: "0 to 3,650. 0: a stake can be taken back at any time.",
    kind: "count",
  },
  {
    name: "unbondingDays",
    title: "Unbonding days",
    description: "0 to 3,650, from the taking back to the payout.",
    kind: "count",
  },
  {
    name: "earlyRedemption",
    title: "Taking back before the end",
    description: "Allowed where no days are locked.",
    kind: "redemption",
  },
  { name: "minimum", title: "Least stake", description: "Above 0.", kind: "amount" },
  { name: "maximum", title: "Most of one user", description: "Not below the least.", kind: "amount" },
  { name: "capacity", title: "Most of all users", description: "Above 0.", kind: "amount" },
];

type Texts = Record<string, string>;

/** What the fields hold. Terms whose fields are as they were are not sent. */
export interface OffersDraft {
  offers: OfferName[];
  payments: Texts;
  staking: Texts;
}

/** The draft that changes nothing of a market. */
export function offersOf(terms: MarketTerms): OffersDraft {
  return {
    offers: OFFERS.map(({ name }) => name).filter((name) => terms.offers?.includes(name)),
    payments: textsOf(PAYMENT_FIELDS, terms.payments),
    staking: { earlyRedemption: "allowed", ...textsOf(STAKING_FIELDS, terms.staking) },
  };
}

function textsOf(fields: readonly TermField[], known: object | undefined): Texts {
  const values = new Map<string, unknown>(Object.entries(known ?? {}));
  return Object.fromEntries(
    fields.filter(({ name }) => values.has(name)).map(({ name }) => [name, String(values.get(name))]),
  );
}

/** Whether a field holds what it is for. The engine knows all other rules, and names the field of a broken one. */
export function isTyped({ kind }: TermField, text: string): boolean {
  if (kind === "count") return parseCount(text) !== null;
  if (kind === "redemption") return REDEMPTIONS.some(({ value }) => value === text);
  if (!isDecimal(text)) return false;
  return kind === "amount" ? isPositive(text) : compareDecimals(text, "0") >= 0;
}

/** A difference between two drafts, in words. */
export interface OfferDifference {
  name: string;
  before: string;
  after: string;
}

/** What a draft changes, for the last question. */
export function differencesOf(before: OffersDraft, after: OffersDraft): OfferDifference[] {
  const named = ({ offers }: OffersDraft) =>
    OFFERS.filter(({ name }) => offers.includes(name))
      .map(({ title }) => title)
      .join(", ") || "none";
  const rows = [{ name: "Offered", before: named(before), after: named(after) }];
  for (const [of, fields] of [
    ["payments", PAYMENT_FIELDS],
    ["staking", STAKING_FIELDS],
  ] as const) {
    // A choice that was never sent is no change of its own.
    if (!isChanged(before[of], after[of], fields)) continue;
    for (const { name, title } of fields)
      rows.push({ name: title, before: before[of][name] ?? "", after: after[of][name] ?? "" });
  }
  return rows
    .filter((row) => row.before !== row.after)
    .map((row) => ({ ...row, before: row.before || "none", after: row.after || "none" }));
}

/** What was typed in a draft that began with `before`, on the market as it is now. */
export function rebased(before: OffersDraft, draft: OffersDraft, present: OffersDraft): OffersDraft {
  return {
    // A service that was not touched is offered as it is now: nobody gives back what another has just taken back.
    offers: OFFERS.map(({ name }) => name).filter((name) => {
      const isTouched = before.offers.includes(name) !== draft.offers.includes(name);
      return (isTouched ? draft : present).offers.includes(name);
    }),
    payments: typedOn(before.payments, draft.payments, present.payments),
    staking: typedOn(before.staking, draft.staking, present.staking),
  };
}

function isChanged(before: Texts, after: Texts, fields: readonly TermField[]): boolean {
  return fields.some(({ name }) => (before[name] ?? "") !== (after[name] ?? ""));
}

/** The fields of changed terms that hold nothing of their kind, by their titles. */
export function missingTerms(before: OffersDraft, after: OffersDraft): string[] {
  return (
    [
      ["payments", PAYMENT_FIELDS],
      ["staking", STAKING_FIELDS],
    ] as const
  ).flatMap(([of, fields]) =>
    isChanged(before[of], after[of], fields)
      ? fields.filter((field) => !isTyped(field, after[of][field.name] ?? "")).map(({ title }) => title)
      : [],
  );
}

/** The body that changes a market as a draft says; null while a field of changed terms is missing. */
export function offersChange(before: OffersDraft, after: OffersDraft): Omit<TermsChange, "reason"> | null {
  if (missingTerms(before, after).length > 0) return null;
  const { payments, staking } = after;
  const count = (text: string | undefined) => parseCount(text ?? "") ?? 0;
  const text = (value: string | undefined) => value ?? "";
  return {
    ...(before.offers.join(" ") === after.offers.join(" ") ? {} : { offers: after.offers }),
    ...(isChanged(before.payments, payments, PAYMENT_FIELDS)
      ? {
          payments: {
            minimum: text(payments.minimum),
            maximum: text(payments.maximum),
            feeBps: count(payments.feeBps),
            feeFixed: text(payments.feeFixed),
          },
        }
      : {}),
    ...(isChanged(before.staking, staking, STAKING_FIELDS)
      ? {
          staking: {
            apr: text(staking.apr),
            lockDays: count(staking.lockDays),
            unbondingDays: count(staking.unbondingDays),
            earlyRedemption:
              REDEMPTIONS.find(({ value }) => value === staking.earlyRedemption)?.value ?? "allowed",
            minimum: text(staking.minimum),
            maximum: text(staking.maximum),
            capacity: text(staking.capacity),
          },
        }
      : {}),
  };
}
