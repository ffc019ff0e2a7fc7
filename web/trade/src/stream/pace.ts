/** When the page is painted: at most ten times a second, everything that has changed at once. */

const PAINT_MS = 100;

export interface Pace {
  /** Call `paint` with the next picture: at once after a pause, otherwise at the end of the time. */
  request: (paint: () => void) => void;
  /** Do not call it, if it was requested. */
  withdraw: (paint: () => void) => void;
}

/** The pace of one page. What it calls together changes the page in one step, however many stores that are. */
export function createPace(): Pace {
  const wanted = new Set<() => void>();
  let isPaused = false;
  const run = () => {
    isPaused = wanted.size > 0;
    if (!isPaused) return;
    setTimeout(run, PAINT_MS);
    const due = [...wanted];
    wanted.clear();
    for (const paint of due) paint();
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
