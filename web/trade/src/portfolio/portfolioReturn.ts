/** What a portfolio gained over a period, in whole cents: what a page shows adds up. Pure. */
import { readDecimalCents } from "./valuation.ts";
import { scaledText } from "#lib/scaled.ts";
import type { PortfolioReturn } from "./queries.ts";

export type FlowKind = keyof PortfolioReturn["flows"];

/** In the order in which they are shown. */
export const FLOW_KINDS: readonly FlowKind[] = [
  "deposits",
  "withdrawals",
  "payments",
  "moves",
  "subscriptions",
  "adjustments",
];

export interface ReturnFigures {
  start: string;
  /** Those that are not nothing. */
  flows: readonly { kind: FlowKind; value: string }[];
  result: string;
  /** What of the result is rewards; null if there were none. */
  income: string | null;
  end: string;
}

/**
 * How far the value that the page shows may be from the exchange's own end and still be the same holdings: cents that
 * each asset's value was cut by, and prices that moved since the exchange was asked.
 */
const SAME_PER_MILLE = 5n;

/**
 * The figures in cents. The result is what start and flows lack to the end, so that the column adds up. The end is the
 * `present` value that the page shows elsewhere, so that both are one figure, unless the holdings have changed since.
 */
export function figuresOf(found: PortfolioReturn, present: bigint | null): ReturnFigures {
  const start = readDecimalCents(found.startValue);
  const told = readDecimalCents(found.endValue);
  const end = present !== null && isSame(present, told) ? present : told;
  const flows = FLOW_KINDS.map((kind) => ({ kind, value: readDecimalCents(found.flows[kind]) })).filter(
    ({ value }) => value !== 0n,
  );
  const result = flows.reduce((rest, { value }) => rest - value, end - start);
  const income = readDecimalCents(found.income);
  return {
    start: scaledText(start),
    flows: flows.map(({ kind, value }) => ({ kind, value: scaledText(value) })),
    result: scaledText(result),
    income: income === 0n ? null : scaledText(income),
    end: scaledText(end),
  };
}

function isSame(present: bigint, told: bigint): boolean {
  const distance = present < told ? told - present : present - told;
  return distance * 1000n <= told * SAME_PER_MILLE;
}
