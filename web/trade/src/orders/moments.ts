/** Dates with a time, as a field has them, in a time zone. Pure. */
import { isDay } from "#lib/days.ts";
import { formatClock, formatDay } from "#lib/time.ts";

const TYPED = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2})?$/;
/** No zone is further than 14 hours from UTC; a clock that is put back needs some more. */
const ZONE_MINUTES = 16 * 60;
const MINUTE_MS = 60_000;

/**
 * The moment of "2026-11-30T18:30" in a zone, in milliseconds since 1970, or null for what is none. Of a time that comes
 * twice it is the first; of one that a clock leaves out, the first after it.
 */
export function momentOf(typed: string, zone: string): number | null {
  const [, day = "", clock = ""] = TYPED.exec(typed) ?? [];
  if (!isDay(day)) return null;
  const guess = Date.parse(`${day}T${clock}Z`) / MINUTE_MS;
  if (Number.isNaN(guess)) return null;
  const shown = (minute: number) => {
    const at = minute * MINUTE_MS;
    return Date.parse(`${formatDay(at, zone)}T${formatClock(at, zone)}Z`) / MINUTE_MS;
  };
  let before = guess - ZONE_MINUTES;
  let after = guess + ZONE_MINUTES;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (shown(middle) >= guess) after = middle;
    else before = middle;
  }
  return after * MINUTE_MS;
}

/** A moment as the field has it in a zone, to the minute; empty for no moment. It is what `momentOf` reads. */
export function typedMoment(at: number | null, zone: string): string {
  if (at === null) return "";
  return `${formatDay(at, zone)}T${formatClock(at, zone).slice(0, "18:30".length)}`;
}
