/** What plans cost: discount, and the credit of an upgrade. The subscription service counts by the same rules. */
import { parseCount } from "#lib/counts.ts";
import { ONE, readScaled, toScaled } from "#lib/scaled.ts";
import type { SubscriptionSchemas } from "../api/client.ts";

export type Plan = SubscriptionSchemas["PlanResponse"];
export type Subscription = SubscriptionSchemas["SubscriptionResponse"];

const DISCOUNT_BPS_MIN = 1_000;
const DISCOUNT_BPS_MAX = 2_000;
const BASIS_POINTS = 10_000n;
/** Staking balance that adds one basis point of discount. */
const STAKING_STEP = 100n * ONE;
const DAY_MS = 86_400_000;

/** The staking balance in an access token, as a decimal text; "0" if the token has none. */
export function stakingBalanceOf(accessToken: string): string {
  try {
    const [, payload = ""] = accessToken.split(".");
    const claims = JSON.parse(atob(payload.replace(/-/g, "+").replace(/_/g, "/"))) as {
      stakingBalance?: unknown;
    };
    const balance = claims.stakingBalance;
    return typeof balance === "string" && readScaled(balance) !== null ? balance : "0";
  } catch {
    return "0";
  }
}

/** The discount of a payment in the payment token, in basis points: 10 % without a stake, 20 % from 100,000 on. */
export function discountBps(stakingBalance: string): number {
  const steps = toScaled(stakingBalance) / STAKING_STEP;
  const more = parseCount(steps.toString()) ?? (steps > 0n ? DISCOUNT_BPS_MAX : 0);
  return Math.min(DISCOUNT_BPS_MAX, DISCOUNT_BPS_MIN + more);
}

/** The price of a period of `plan` in `asset` after discount, scaled; null if the asset does not pay for it. */
export function priceOf(plan: Plan, asset: string, discount: number): bigint | null {
  const price = plan.prices[asset];
  if (price === undefined) return null;
  const share = asset === plan.paymentToken ? BASIS_POINTS - BigInt(discount) : BASIS_POINTS;
  return (toScaled(price) * share) / BASIS_POINTS;
}

const dayOf = (date: string) => Math.floor(Date.parse(`${date}T00:00:00Z`) / DAY_MS);

export interface UpgradeCost {
  price: bigint;
  /** What is left of the paid period, and credit kept from before. */
  credit: bigint;
  due: bigint;
  /** Credit that is kept for later charges. */
  kept: bigint;
}

/**
 * What an upgrade at `now` costs: the rest of the paid period, with the day of the upgrade, is credited (Document B
 * 4.6). The service rounds each amount to the places of its asset. Null where the asset does not pay for the plan.
 */
export function upgradeCost(
  subscription: Subscription,
  plan: Plan,
  discount: number,
  now: number,
): UpgradeCost | null {
  const price = priceOf(plan, subscription.asset, discount);
  if (price === null) return null;
  const [start, end] = [dayOf(subscription.periodStart), dayOf(subscription.periodEnd)];
  const remaining = Math.max(0, Math.min(end - start, end - Math.floor(now / DAY_MS)));
  const rest = (toScaled(subscription.price) * BigInt(remaining)) / BigInt(Math.max(1, end - start));
  const credit = rest + toScaled(subscription.credit);
  const used = credit < price ? credit : price;
  return { price, credit, due: price - used, kept: credit - used };
}
