/** When the page is painted: at most ten times a second, everything that has changed at once. */

const PAINT_MS = 100;
/** A pause is at least so many times as long as what was done before it: a slow computer paints less often. */
const REST = 8;

export interface Pace {
  /** Call `paint` with the next picture: at once after a pause, otherwise at the end of it. */
  request: (paint: () => void) => void;
  /** Do not call it, if it was requested. */
  withdraw: (paint: () => void) => void;
}

/** The pace of one page. What it calls together changes the page in one step, however many stores that are. */
export function createPace(pause = PAINT_MS, now: () => number = () => performance.now()): Pace {
  const wanted = new Set<() => void>();
  let isPaused = false;
  const run = () => {
    isPaused = wanted.size > 0;
    if (!isPaused) return;
    const due = [...wanted];
    wanted.clear();
    const began = now();
    for (const paint of due) paint();
    // React draws what the stores have changed in a microtask, which stands before this one.
    queueMicrotask(() => setTimeout(run, Math.max(pause, REST * (now() - began))));
  };
  return {
    request(paint) {
      wanted.add(paint);
      if (!isPaused) run();
    },
    withdraw(paint) {
      wanted.delete(paint);
    },
  };
}
