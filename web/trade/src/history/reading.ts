/** Reading lists that end with the oldest entry: what a filter keeps of them, page by page or all of it. Pure. */
import type { Slice } from "../api/client.ts";
import { RefusedError } from "../api/errors.ts";

/** One page of a list. Without a cursor it is the first. */
export type ReadPage<Row> = (cursor: string | undefined) => Promise<Slice<Row>>;

/** What is wanted of a list whose rows come newest first. */
export interface Sieve<Row> {
  keeps: (row: Row) => boolean;
  /** Whether everything after this row is too old. */
  isPast: (row: Row) => boolean;
}

/** A page of what a filter keeps. */
export interface Kept<Row> extends Slice<Row> {
  /** The oldest row that was looked at, kept or not. */
  last: Row | null;
}

/** How long a page of a list is looked for. */
export interface Effort {
  /** So many rows are enough. */
  rowsMin: number;
  requestsMax: number;
}

/** Read on until enough is kept, the list ends, or so many requests were made. */
export async function readKept<Row>(
  read: ReadPage<Row>,
  { keeps, isPast }: Sieve<Row>,
  cursor: string | undefined,
  { rowsMin, requestsMax }: Effort,
): Promise<Kept<Row>> {
  const rows: Row[] = [];
  let next: string | null = cursor ?? null;
  let last: Row | null = null;
  for (let count = 0; count < requestsMax; count += 1) {
    const page: Slice<Row> = await read(next ?? undefined);
    last = page.rows.at(-1) ?? last;
    next = last !== null && isPast(last) ? null : page.next;
    rows.push(...page.rows.filter(keeps));
    if (rows.length >= rowsMin || next === null) break;
  }
  return { rows, next, last };
}

export interface Bounds {
  rowsMax: number;
  requestsMax: number;
}

/** All that a filter keeps. */
export interface Collected<Row> {
  rows: readonly Row[];
  /** The oldest row that was looked at if there is more than the bounds allow, else null. */
  cutAt: Row | null;
}

/** Read a list to its end, or to its bounds; `onProgress` is told how many rows are kept so far. */
export async function collect<Row>(
  read: ReadPage<Row>,
  { keeps, isPast }: Sieve<Row>,
  { rowsMax, requestsMax }: Bounds,
  onProgress: (rows: number) => void,
): Promise<Collected<Row>> {
  const rows: Row[] = [];
  let next: string | undefined;
  for (let count = 1; ; count += 1) {
    const page: Slice<Row> = await read(next);
    const last = page.rows.at(-1);
    for (const row of page.rows) {
      if (!keeps(row)) continue;
      if (rows.length === rowsMax) return { rows, cutAt: rows.at(-1) ?? null };
      rows.push(row);
    }
    onProgress(rows.length);
    if (page.next === null || last === undefined || isPast(last)) return { rows, cutAt: null };
    if (count === requestsMax) return { rows, cutAt: last };
    next = page.next;
  }
}

const TURNS_MAX = 20;
const TURN_S = 1;

/** `read`, which waits and asks again where the exchange says that there were too many requests. */
export function patient<Row>(read: ReadPage<Row>, wait: (seconds: number) => Promise<void>): ReadPage<Row> {
  return async (cursor) => {
    for (let turn = 1; ; turn += 1) {
      try {
        return await read(cursor);
      } catch (error) {
        const isThrottled = error instanceof RefusedError && error.status === 429;
        if (!isThrottled || turn === TURNS_MAX) throw error;
        await wait(error.retryAfter ?? TURN_S);
      }
    }
  };
}

/** Wait so long, or fail as soon as `signal` says that nobody wants it any more. */
export function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const stop = () => {
      clearTimeout(timer);
      fail(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      done();
    }, seconds * 1000);
    signal.addEventListener("abort", stop, { once: true });
  });
}
