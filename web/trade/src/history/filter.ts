/** The filter of the history as the address has it. Pure. */
import { endOfDay, isDay, startOfDay } from "#lib/days.ts";
import { t } from "#lib/language.ts";
import type { Wanted } from "./lists.ts";

/** A filter as it was entered, and what it means. */
export interface Filter {
  subject: string;
  fromDay: string;
  toDay: string;
  /** What is wrong with a day, or null. */
  fromFault: string | null;
  toFault: string | null;
  wanted: Wanted;
  /** Whether anything was entered. */
  isSet: boolean;
}

const SUBJECT = /^[A-Z0-9]{2,10}(-[A-Z0-9]{2,10})?$/;
const noDay = () => t("Choose a day between 2000 and 2100.");

/** Read a filter; days are those of the zone. What cannot be read filters nothing, and says so. */
export function readFilter(
  parameter: (name: string) => string,
  about: "market" | "asset",
  zone: string,
): Filter {
  const subject = SUBJECT.test(parameter(about)) ? parameter(about) : "";
  const fromDay = parameter("from");
  const toDay = parameter("to");
  const from = isDay(fromDay) ? startOfDay(fromDay, zone) : null;
  const to = isDay(toDay) ? endOfDay(toDay, zone) : null;
  const isTurned = from !== null && to !== null && from >= to;
  return {
    subject,
    fromDay,
    toDay,
    fromFault: fromDay === "" || from !== null ? null : noDay(),
    toFault: isTurned ? t("This day is before the first.") : toDay === "" || to !== null ? null : noDay(),
    wanted: { subject, from, to },
    isSet: subject !== "" || fromDay !== "" || toDay !== "",
  };
}

/** The name of a list's file: "openspot-orders-BTC-USD-from-2026-11-01-to-2026-11-22.csv". */
export function fileName(name: string, subject: string, fromDay: string, toDay: string): string {
  const parts = [name, subject, fromDay && `from-${fromDay}`, toDay && `to-${toDay}`];
  return `openspot-${parts.filter((part) => part !== "").join("-")}.csv`;
}
