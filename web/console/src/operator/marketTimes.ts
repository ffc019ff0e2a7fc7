/** The statuses that a market gets by itself at a time, as they are typed and as the edge takes them. Pure. */
import type { Schemas } from "./client.ts";
import { type MarketStatus, type MarketTerms, STATUSES } from "./listings.ts";

const AWAY_MS_MAX = 366 * 86_400_000;
const MINUTES = 16;

/** In the order in which a market can have them. */
export const TIMED = ["post-only", "auction", "open", "delisting"] as const;
export type TimedStatus = (typeof TIMED)[number];

/** Times of the form 2026-12-01T12:00, in UTC; an empty text is no time. */
export type TimesDraft = Record<TimedStatus, string>;

/** The statuses that a market can still get at a time. */
export function timedAfter(status: MarketStatus): TimedStatus[] {
  if (status === "announced") return [...TIMED];
  const present = TIMED.findIndex((timed) => timed === status);
  return present === -1 || status === "delisting" ? [] : TIMED.slice(present + 1);
}

/** A time as a field for times has it: to the minute, unless it is finer. */
export function typedTime(at: number): string {
  const text = new Date(at).toISOString().replace("Z", "");
  return text.slice(MINUTES) === ":00.000" ? text.slice(0, MINUTES) : text;
}

/** The time of a text, in milliseconds since 1970; null if it is none. */
function readTime(text: string): number | null {
  const at = Date.parse(`${text}Z`);
  return Number.isNaN(at) ? null : at;
}

/** A typed time for people. */
export function shownTime(text: string): string {
  return text === "" ? "none" : `${text.replace("T", " ")} UTC`;
}

/** The times of a schedule. */
export function timesOf(schedule: MarketTerms["schedule"]): TimesDraft {
  const times: TimesDraft = { "post-only": "", auction: "", open: "", delisting: "" };
  for (const { status, at } of schedule) {
    const timed = TIMED.find((known) => known === status);
    if (timed) times[timed] = typedTime(at);
  }
  return times;
}

/**
 * What is wrong with each time of a market that has a status; `now` in milliseconds since 1970. A time that stands there
 * `unchanged` may have come meanwhile.
 */
export function timeFaults(
  status: MarketStatus,
  times: TimesDraft,
  now: number,
  unchanged: Partial<TimesDraft> = {},
): Partial<Record<TimedStatus, string>> {
  const faults: Partial<Record<TimedStatus, string>> = {};
  let before: { title: string; at: number } | null = null;
  for (const timed of timedAfter(status)) {
    if (times[timed] === "") continue;
    const at = readTime(times[timed]);
    if (at === null) faults[timed] = "A date and a time are needed.";
    else if (at <= now && times[timed] !== unchanged[timed]) faults[timed] = "It must be in the future.";
    else if (at > now + AWAY_MS_MAX) faults[timed] = "It must be within 366 days.";
    else if (before && at <= before.at) faults[timed] = `It must be after ${before.title}.`;
    if (at !== null) before = { title: STATUSES[timed].title, at };
  }
  return faults;
}

/** What a dialog has seen of a market: its status and its times. */
export interface TimesSeen {
  status: MarketStatus;
  times: TimesDraft;
}

/** What differs in a market between two looks at it, in words. Times of statuses that it has left behind are no news. */
export function changesSince(
  first: TimesSeen,
  now: TimesSeen,
): { name: string; before: string; after: string }[] {
  return [
    { name: "Status", before: STATUSES[first.status].title, after: STATUSES[now.status].title },
    ...timedAfter(now.status).map((timed) => ({
      name: `${STATUSES[timed].title} from`,
      before: shownTime(first.times[timed]),
      after: shownTime(now.times[timed]),
    })),
  ].filter(({ before, after }) => before !== after);
}

/** The statuses whose time was typed, and that the market cannot get any more. */
export function typedInVain({ status, times }: TimesSeen, typed: TimesDraft): TimedStatus[] {
  const able = timedAfter(status);
  return TIMED.filter((timed) => !able.includes(timed) && typed[timed] !== times[timed]);
}

/** The schedule of typed times that have no fault, which replaces the one before. */
export function scheduleOf(status: MarketStatus, times: TimesDraft): Schemas["StatusAtBody"][] {
  return timedAfter(status).flatMap((timed) => {
    const at = times[timed] === "" ? null : readTime(times[timed]);
    return at === null ? [] : [{ status: timed, at }];
  });
}
