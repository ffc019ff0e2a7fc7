/** The days that a list is narrowed to, in its address and at the edge. */

const DAY_MS = 86_400_000;

/** Days are `YYYY-MM-DD` of UTC, both included; an empty one bounds nothing. */
export interface Days {
  from: string;
  to: string;
}

/** What the edge takes: the first moment, and the first one that is too late. */
export interface Span {
  from?: string;
  to?: string;
}

/** Whether a text is a day of the calendar, or empty. */
export function isDay(text: string): boolean {
  return text === "" || (/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)));
}

/** The days of an address. What is no day bounds nothing. */
export function daysOf(parameter: (name: string) => string): Days {
  const day = (name: string) => (isDay(parameter(name)) ? parameter(name) : "");
  return { from: day("from"), to: day("to") };
}

/** The days as moments. A day ends where the next one begins. */
export function spanOf({ from, to }: Days): Span {
  return {
    ...(from === "" ? {} : { from: `${from}T00:00:00Z` }),
    ...(to === "" ? {} : { to: new Date(Date.parse(`${to}T00:00:00Z`) + DAY_MS).toISOString() }),
  };
}
