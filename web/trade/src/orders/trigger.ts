/** What an order waits for, in words. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { scaledText } from "#lib/scaled.ts";
import {
  type ConditionalType,
  firesAbove,
  isConditional,
  type Order,
  type TriggerSource,
} from "../api/orderKinds.ts";

/** A number of basis points as percent: "1.5 %". */
export function percentOfBps(bps: bigint): string {
  return `${formatDecimal(scaledText(bps * 10n ** 16n))} %`;
}

export interface Terms {
  type: ConditionalType;
  side: "buy" | "sell";
  triggerBy: TriggerSource;
  /** What it waits for; of a trailing order the present one, empty where it is not known. */
  stopPrice: string;
  /** How far a trailing order follows: "100 USD" or "1.5 %". */
  distance: string;
}

/** The terms of a record, or null of an order without a trigger. */
export function termsOf(order: Order): Terms | null {
  if (!isConditional(order.type)) return null;
  const { type, side, triggerBy, stopPrice, trailingAmount, trailingBps, symbol } = order;
  const bps = trailingBps === null || trailingBps === undefined ? null : BigInt(trailingBps);
  return {
    type,
    side,
    triggerBy: triggerBy ?? "last",
    stopPrice: stopPrice ?? "",
    distance:
      bps !== null
        ? percentOfBps(bps)
        : trailingAmount
          ? `${formatDecimal(trailingAmount)} ${symbol.split("-")[1] ?? ""}`
          : "",
  };
}

/** For a row of a table: "waits for last ≥ 65,000". */
export function waitsFor({ type, side, triggerBy, stopPrice, distance }: Terms): string {
  const sign = firesAbove(type, side) ? "≥" : "≤";
  const price = stopPrice === "" ? "" : ` ${sign} ${formatDecimal(stopPrice)}`;
  const follows = distance === "" ? "" : `, follows by ${distance}`;
  return `waits for ${triggerBy}${price}${follows}`;
}

/** For a review: "Buys when the last price is at or above 65,000 USD." */
export function triggerSentence(terms: Terms, quoteAsset: string): string {
  const { type, side, triggerBy, stopPrice, distance } = terms;
  const verb = side === "buy" ? "Buys" : "Sells";
  const source = `the ${triggerBy} price`;
  if (distance !== "") {
    const move =
      side === "buy" ? `has risen ${distance} from its lowest` : `has fallen ${distance} from its highest`;
    const now = stopPrice === "" ? "" : `; at present at ${formatDecimal(stopPrice)} ${quoteAsset}`;
    return `${verb} when ${source} ${move} since the order was placed${now}.`;
  }
  const where = firesAbove(type, side) ? "at or above" : "at or below";
  return `${verb} when ${source} is ${where} ${formatDecimal(stopPrice)} ${quoteAsset}.`;
}
