/** Times as people read them. The platform sends milliseconds since 1970, in UTC. */
import { shownLanguage, SOURCE_LANGUAGE } from "./language.ts";

export const LOCAL_ZONE = "local";
export const UTC_ZONE = "UTC";

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const language = shownLanguage();
  const key = `${language} ${zone} ${JSON.stringify(options)}`;
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat(language === SOURCE_LANGUAGE ? "en-GB" : language, {
      hourCycle: "h23",
      ...(zone === LOCAL_ZONE ? {} : { timeZone: zone }),
      ...options,
    });
    formats.set(key, found);
  }
  return found;
}

function fields(milliseconds: number, zone: string): Record<string, string> {
  const parts = format(zone, {
    year: "numeric",
    month: "short",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
  }).formatToParts(milliseconds);
  // Some languages write a point behind the month, but only where it stands in a sentence.
  return Object.fromEntries(
    parts.map(({ type, value }) => [type, type === "month" ? value.replace(".", "") : value]),
  );
}

/** Date and time to the second, with the month in the language of the page: "22 Nov 2026 09:05:03". */
export function formatTime(milliseconds: number, zone: string): string {
  const part = fields(milliseconds, zone);
  return `${part.day} ${part.month} ${part.year} ${part.hour}:${part.minute}:${part.second}`;
}

/** The time of day alone: "09:05:03". */
export function formatClock(milliseconds: number, zone: string): string {
  const part = fields(milliseconds, zone);
  return `${part.hour}:${part.minute}:${part.second}`;
}

/** The day of a moment as a field of dates has it: "2026-11-22". */
export function formatDay(milliseconds: number, zone: string): string {
  const parts = format(zone, { year: "numeric", month: "2-digit", day: "2-digit" }).formatToParts(
    milliseconds,
  );
  const part = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  return `${part.year}-${part.month}-${part.day}`;
}

/** The time in UTC to the millisecond, as it stands in logs: "2026-11-22 09:05:03.120 UTC". */
export function formatUtc(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().replace("T", " ").replace("Z", "")} UTC`;
}

/** Whether the browser knows a zone of this name. */
export function isZone(name: string): boolean {
  if (name === LOCAL_ZONE) return true;
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The zone of this computer: "Europe/Berlin". */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Every zone that the browser knows, UTC first. */
export function allZones(): string[] {
  return [UTC_ZONE, ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== UTC_ZONE)];
}
