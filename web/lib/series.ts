/** Series for live graphs: samples over time, rates between them, and the ticks of an axis. */

export interface Point {
  /** Milliseconds since 1970. */
  at: number;
  value: number;
}

/** A point of a graph, whose value may be unknown. */
export interface GraphPoint {
  /** Milliseconds since 1970. */
  at: number;
  value: number | null;
  /** Said in place of a value that is unknown: why it is. */
  missing?: string | undefined;
}

/** The points that a line goes through without a break, each run of known values by itself. */
export function runsOf(points: readonly GraphPoint[]): Point[][] {
  const runs: Point[][] = [];
  let isBroken = true;
  for (const { at, value } of points) {
    if (value !== null) {
      if (isBroken) runs.push([]);
      runs.at(-1)?.push({ at, value });
    }
    isBroken = value === null;
  }
  return runs;
}

/** `samples` with one more, and without those that are older than `span` or beyond `limit`. */
export function appendSample<Sample extends { at: number }>(
  samples: readonly Sample[],
  sample: Sample,
  span: number,
  limit: number,
): Sample[] {
  const last = samples.at(-1);
  // A clock that was set back would draw the line backwards.
  const kept = last !== undefined && sample.at <= last.at ? [] : samples;
  return [...kept.filter(({ at }) => sample.at - at <= span), sample].slice(-limit);
}

/**
 * The rate per second of a counter between each two samples, at the time of the later one. A counter that fell was
 * begun again by a restart: that interval is left out.
 */
export function ratesOf<Sample extends { at: number }>(
  samples: readonly Sample[],
  counter: (sample: Sample) => bigint,
): Point[] {
  return samples.slice(1).flatMap((sample, index) => {
    const before = samples[index];
    if (!before) return [];
    const growth = Number(counter(sample) - counter(before));
    const seconds = (sample.at - before.at) / 1000;
    return growth < 0 || seconds <= 0 ? [] : [{ at: sample.at, value: growth / seconds }];
  });
}

/** Round values from 0 to at least `maximum`, at most `count` steps of 1, 2 or 5 times a power of ten. */
export function axisTicks(maximum: number, count: number): number[] {
  if (!(maximum > 0)) return [0, 1];
  const raw = maximum / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * (1 - 1e-9)) ?? raw;
  const steps = Math.ceil(maximum / step - 1e-9);
  return Array.from({ length: steps + 1 }, (_, index) => index * step);
}

/** The ticks of an axis that shows all of these values and 0, the lowest first: at most `count` steps on either side. */
export function ticksAround(values: readonly number[], count: number): number[] {
  const [lowest, highest] = [Math.min(0, ...values), Math.max(0, ...values)];
  const below = lowest < 0 ? axisTicks(-lowest, count).slice(1) : [];
  const above = lowest < 0 && highest === 0 ? [0] : axisTicks(highest, count);
  return [...below.map((tick) => -tick).reverse(), ...above];
}

/** The index of the point nearest to a time, or −1 of none. Points are in order of time. */
export function nearestIndex(points: readonly { at: number }[], at: number): number {
  let best = -1;
  let distance = Infinity;
  points.forEach((point, index) => {
    const away = Math.abs(point.at - at);
    if (away < distance) {
      best = index;
      distance = away;
    }
  });
  return best;
}
