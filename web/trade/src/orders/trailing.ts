/** How far an order that follows the price has to follow, so that its line stands where it was let go. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { ceilTo, floorTo, ONE, readScaled, scaledText, toScaled } from "#lib/scaled.ts";
import { hasLimit, type Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { movedField, type Proposal } from "../market/own.ts";
import { isFollowing, type Wanted, wantedOf } from "./amending.ts";
import { trailingFault } from "./conditional.ts";
import { priceFault } from "./review.ts";
import { changeOf, followsInPercent, type OrderChange, replacementOf } from "./replacing.ts";

const BPS = 10_000n;
/** Scaled numbers in a hundredth of a percent: 1.5 % are 150 of them. */
const BP = ONE / 100n;

/**
 * How far an order has to follow, in money or percent as it does, to fire at `price` while what it follows is at
 * `followed`, or as near to that as steps of a hundredth of a percent allow. Null if `price` is not beyond `followed`:
 * it would fire at once.
 */
export function distanceTo(order: Order, price: string, followed: string, tickSize: string): string | null {
  const [from, to] = [toScaled(followed), toScaled(price)];
  const between = order.side === "buy" ? to - from : from - to;
  if (between <= 0n) return null;
  if (!followsInPercent(order)) {
    const distance = floorTo(between, toScaled(tickSize));
    return distance === 0n ? null : scaledText(distance);
  }
  const steps = (between * BPS) / from;
  const [less, more] = [scaledText(steps * BP), scaledText((steps + 1n) * BP)];
  const missed = (distance: string) => {
    const by = toScaled(triggerAt(order, distance, followed, tickSize)) - to;
    return by < 0n ? -by : by;
  };
  return missed(more) < missed(less) ? more : less;
}

/** What fires an order that follows `followed` at a distance: a step of the market, away from what it follows. */
export function triggerAt(order: Order, distance: string, followed: string, tickSize: string): string {
  const [from, by, step] = [toScaled(followed), toScaled(distance), toScaled(tickSize) * BPS];
  const away = followsInPercent(order) ? (from * by) / BP : by * BPS;
  const exact = order.side === "buy" ? ceilTo(from * BPS + away, step) : floorTo(from * BPS - away, step);
  return scaledText(exact / BPS);
}

/** What an order shall have for its line to stand where it was let go, and what has to be asked for. */
export interface Drop {
  wanted: Wanted;
  change: OrderChange;
}

/**
 * What a line that was let go asks for. `followed` is the price that an order follows: another one takes its place, and
 * begins there. It is null if nobody knows it.
 */
export function dropOf({ order, price }: Proposal, followed: string | null, market: Market): Drop {
  const before = wantedOf(order);
  if (!isFollowing(order)) {
    const wanted = { ...before, [movedField(order)]: price };
    return { wanted, change: changeOf(order, wanted, market) };
  }
  const refused = (faults: OrderChange["faults"], wanted = before): Drop => ({
    wanted,
    change: { faults, body: null, keepsPlace: false, replacement: null },
  });
  if (followed === null)
    return refused({ trailing: t("Nobody knows the price that it follows at present.") });
  const trailing = distanceTo(order, price, followed, market.tickSize);
  if (trailing === null) return refused({ trailing: wouldFire(order, followed) });
  const trigger = triggerAt(order, trailing, followed, market.tickSize);
  const wanted = { ...before, trailing, price: limitAt(order, trigger) };
  const trailingUnit = followsInPercent(order) ? "percent" : "quote";
  const ofTrailing = trailingFault({ trailing, trailingUnit }, market);
  if (ofTrailing) return refused({ trailing: ofTrailing }, wanted);
  const ofPrice = wanted.price === "" ? null : priceFault(wanted.price, market);
  if (ofPrice) return refused({ price: ofPrice }, wanted);
  const body = { trailing, ...(wanted.price === before.price ? {} : { price: wanted.price }) };
  // Also at the distance that it has: the new order follows from another price.
  const replacement = replacementOf(order, wanted);
  return { wanted, change: { faults: {}, body, keepsPlace: false, replacement } };
}

/** The limit of an order keeps its distance from what fires it. Empty without a limit. */
function limitAt({ type, price, stopPrice }: Order, trigger: string): string {
  const [limit, present] = [readScaled(price ?? ""), readScaled(stopPrice ?? "")];
  if (!hasLimit(type) || limit === null || present === null) return "";
  return scaledText(toScaled(trigger) + limit - present);
}

function wouldFire({ side, triggerBy }: Order, followed: string): string {
  const price = formatDecimal(followed);
  if (triggerBy === "mark")
    return side === "buy"
      ? t("It would fire at once: the mark price is {price}. Move the line above it.", { price })
      : t("It would fire at once: the mark price is {price}. Move the line below it.", { price });
  return side === "buy"
    ? t("It would fire at once: the last price is {price}. Move the line above it.", { price })
    : t("It would fire at once: the last price is {price}. Move the line below it.", { price });
}
