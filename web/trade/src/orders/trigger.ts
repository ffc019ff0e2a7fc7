/** What an order waits for, in words. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { scaledText } from "#lib/scaled.ts";
import {
  type ConditionalType,
  firesAbove,
  isConditional,
  type Order,
  type OrderType,
  type TriggerSource,
} from "../api/orderKinds.ts";

/** A number of basis points as percent: "1.5 %". */
export function percentOfBps(bps: bigint): string {
  return `${formatDecimal(scaledText(bps * 10n ** 16n))} %`;
}

/** What traders call the price that an order of a type waits for. */
export function triggerName(type: OrderType): string {
  return type.startsWith("take_profit") ? t("Take profit at") : t("Stop price");
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
  const follows = distance === "" ? "" : t(", follows by {distance}", { distance });
  const waits =
    triggerBy === "mark" ? t("waits for mark{price}", { price }) : t("waits for last{price}", { price });
  return waits + follows;
}
