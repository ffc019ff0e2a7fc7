/**
 * When the page is painted: at most ten times a second, everything that has changed at once. Where that takes long, its
 * parts are painted one after the other, each in a frame of its own: a click between two of them is answered at once.
 */

const PAINT_MS = 100;
/** A pause is at least so many times as long as a paint takes: a slow computer paints less often. */
const REST = 10;
/** … and no longer than this: what a page measures while it goes out of sight can be a minute. */
const REST_MS_MAX = 1_000;
/** Parts that take longer than this together are painted apart. */
const TOGETHER_MS = 25;

export interface Pace {
  /** Call `paint` with the next picture: at once after a pause, otherwise at the end of it. */
  request: (paint: () => void) => void;
  /** Do not call it, if it was requested. */
  withdraw: (paint: () => void) => void;
}

/** Reads the clock in milliseconds, and says what the browser's next frame takes (of a hidden page, nothing). */
export interface Stopwatch {
  now: () => number;
  measureFrame: (report: (took: number) => void) => void;
}

const browserWatch: Stopwatch = {
  now: () => performance.now(),
  measureFrame(report) {
    requestAnimationFrame(() => {
      const began = performance.now();
      // The browser lays out and draws between the callbacks of a frame and the next task.
      setTimeout(() => report(performance.now() - began));
    });
  },
};

/** The pace of one page. What it calls together changes the page in one step, however many stores that are. */
export function createPace(pause = PAINT_MS, watch = browserWatch): Pace {
  const wanted = new Set<() => void>();
  /** What each part took the last time, script and frame. */
  const costs = new WeakMap<() => void, number>();
  let isPaused = false;
  let frameTook = 0;
  const takeDue = () => {
    const due: (() => void)[] = [];
    let together = 0;
    for (const paint of wanted) {
      together += costs.get(paint) ?? 0;
      if (due.length > 0 && together > TOGETHER_MS) break;
      due.push(paint);
      wanted.delete(paint);
    }
    return due;
  };
  const run = () => {
    isPaused = wanted.size > 0;
    if (!isPaused) return;
    const due = takeDue();
    const began = watch.now();
    for (const paint of due) paint();
    // React draws what the stores have changed in a microtask, which stands before this one.
    queueMicrotask(() => {
      const scriptTook = watch.now() - began;
      watch.measureFrame((took) => {
        frameTook = took;
        for (const paint of due) costs.set(paint, (scriptTook + took) / due.length);
      });
      const rest = REST * (scriptTook + frameTook);
      setTimeout(run, Math.max(pause, Math.min(rest, REST_MS_MAX)));
    });
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
