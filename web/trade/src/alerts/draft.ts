/** What a price alert shall be, as it is typed. Pure. */
import { compareDecimals, isDecimal, isPositive } from "#lib/decimal.ts";
import { several, t } from "#lib/language.ts";
import type { Schemas } from "../api/client.ts";

export type PriceAlert = Schemas["PriceAlert"];
export type Direction = PriceAlert["direction"];
export type Source = PriceAlert["source"];

export interface Draft {
  symbol: string | null;
  source: Source;
  direction: Direction;
  price: string;
  note: string;
  repeat: boolean;
  /** Empty: the price need not go back. */
  distance: string;
  /** In seconds. */
  interval: number;
}

export const NOTE_LENGTH_MAX = 200;
/** How long a repeating alert rests, in seconds. */
export const INTERVALS: readonly { seconds: number; title: string }[] = [
  {
    seconds: 60,
    get title() {
      return t("1 minute");
    },
  },
  {
    seconds: 300,
    get title() {
      return t("5 minutes");
    },
  },
  {
    seconds: 3_600,
    get title() {
      return t("1 hour");
    },
  },
  {
    seconds: 86_400,
    get title() {
      return t("1 day");
    },
  },
];

export const DIRECTIONS: Readonly<Record<Direction, string>> = {
  get above() {
    return t("At or above");
  },
  get below() {
    return t("At or below");
  },
};
/** They within a sentence. */
export const DIRECTIONS_WITHIN: Readonly<Record<Direction, string>> = {
  get above() {
    return t("at or above");
  },
  get below() {
    return t("at or below");
  },
};
export const SOURCES: Readonly<Record<Source, string>> = {
  get last_trade() {
    return t("Last trade");
  },
  get fair_price() {
    return t("Fair price");
  },
};

/** The draft of a new alert. */
export function newDraft(symbol: string | null): Draft {
  return {
    symbol,
    source: "last_trade",
    direction: "above",
    price: "",
    note: "",
    repeat: false,
    distance: "",
    interval: 3_600,
  };
}

/** The draft that an alert was made of. */
export function draftOf(alert: PriceAlert): Draft {
  return {
    symbol: alert.symbol,
    source: alert.source,
    direction: alert.direction,
    price: alert.price,
    note: alert.note ?? "",
    repeat: alert.repeat,
    distance: alert.rearmDistance ?? "",
    interval: alert.minimumIntervalSeconds ?? 60,
  };
}

/** What the draft lacks first, as "a price above 0"; null if it is complete. */
export function lackOf({ symbol, direction, price, repeat, distance }: Draft): string | null {
  if (symbol === null) return t("a market");
  if (!isAbove0(price)) return t("a price above 0");
  if (!repeat || distance === "") return null;
  if (!isAbove0(distance)) return t("a distance above 0, or none");
  if (direction === "above" && compareDecimals(distance, price) >= 0) return t("a distance below the price");
  return null;
}

/** The condition as the exchange takes it; null takes away what a change no longer has. */
export function conditionOf({ source, direction, price, note, repeat, distance, interval }: Draft) {
  return {
    source,
    direction,
    price,
    note: note.trim() === "" ? null : note.trim(),
    repeat,
    rearmDistance: repeat && distance !== "" ? distance : null,
    minimumIntervalSeconds: repeat ? interval : null,
  };
}

/** Whether a price is there already, so that the next trade fires the alert. */
export function isThere({ direction, price }: Draft, last: string | null | undefined): boolean {
  if (!last || !isAbove0(price)) return false;
  const order = compareDecimals(last, price);
  return direction === "above" ? order >= 0 : order <= 0;
}

/** How long an alert rests, in words. */
export function restText(seconds: number): string {
  return (
    INTERVALS.find((one) => one.seconds === seconds)?.title ??
    several(seconds, "{count} second", "{count} seconds")
  );
}

function isAbove0(text: string): boolean {
  return isDecimal(text) && isPositive(text);
}
