/** When the requests of a page are sent. The edge takes so many a second of a user (fact A8-01), and says how many. */

const WINDOW_MS = 1_000;
/** Requests do not take equally long to the edge, which counts them when they arrive. */
const JITTER_MS = 100;
/** Left to orders, which do not wait, and to other tabs. */
const SPARE = 2;
const LIMIT = "X-RateLimit-Limit-short";

export interface Turns {
  /** Resolves when the next reading request may be sent; an urgent one may at once. */
  take: (isUrgent: boolean) => Promise<void>;
  /** What the edge says of its limit. One that says nothing has none. */
  learn: (headers: Headers) => void;
}

/** Turns by a clock in milliseconds. */
export function createTurns(
  now: () => number = () => performance.now(),
  wait: (ms: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms)),
): Turns {
  let most = Infinity;
  /** When the latest requests were sent, or will be. */
  let taken: readonly number[] = [];
  return {
    take(isUrgent) {
      const at = now();
      const turn = isUrgent ? at : Math.max(at, (taken.at(-most) ?? -Infinity) + WINDOW_MS + JITTER_MS);
      taken = [...taken.filter((one) => at - one < WINDOW_MS + JITTER_MS), turn].sort(
        (one, other) => one - other,
      );
      return turn > at ? wait(turn - at) : Promise.resolve();
    },
    learn(headers) {
      const text = headers.get(LIMIT);
      // eslint-disable-next-line openspot/decimal-text -- a count
      if (text !== null && /^\d{1,6}$/.test(text)) most = Math.max(1, Number(text) - SPARE);
    },
  };
}
