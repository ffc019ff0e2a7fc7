/** Days of a calendar in a time zone: a filter names a day, the platform compares moments. */
import { formatDay } from "./time.ts";

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const DAY_MS = 86_400_000;
/** No zone is further than 14 hours from UTC; a clock that is put back needs some more. */
const ZONE_MS = 16 * 3_600_000;
const YEAR_MIN = 2000;
const YEAR_MAX = 2100;

/** The midnight of a day in UTC, or null for a text that is no day between 2000 and 2100. */
function midnight(day: string): number | null {
  const [, year = "", month = "", date = ""] = DAY.exec(day) ?? [];
  const at = Date.parse(`${year}-${month}-${date}T00:00:00.000Z`);
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day) return null;
  const fullYear = new Date(at).getUTCFullYear();
  return fullYear < YEAR_MIN || fullYear > YEAR_MAX ? null : at;
}

/** Whether a text is a day between 2000 and 2100, such as "2026-11-22". */
export function isDay(text: string): boolean {
  return midnight(text) !== null;
}

/** When a day begins in a zone, in milliseconds since 1970. Throws RangeError for what is no day. */
export function startOfDay(day: string, zone: string): number {
  const guess = midnight(day);
  if (guess === null) throw new RangeError(`${JSON.stringify(day)} is not a day`);
  // Clocks are put forward over midnight, and whole days are left out: the first second of the day is looked for.
  let before = (guess - ZONE_MS) / 1000;
  let after = (guess + ZONE_MS) / 1000;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (Date.parse(formatDay(middle * 1000, zone)) >= guess) after = middle;
    else before = middle;
  }
  return after * 1000;
}

/** When a day has ended in a zone: the first moment of the next one. */
export function endOfDay(day: string, zone: string): number {
  const at = midnight(day);
  if (at === null) throw new RangeError(`${JSON.stringify(day)} is not a day`);
  const next = new Date(at + DAY_MS).toISOString().slice(0, 10);
  return isDay(next) ? startOfDay(next, zone) : startOfDay(day, zone) + DAY_MS;
}
