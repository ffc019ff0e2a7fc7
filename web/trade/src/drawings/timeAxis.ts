/** Times as places among the candles: between two of them, and before and after all, where no candle begins. Pure. */

/**
 * The place of a time among candles that begin at `times` and are `length` long, all in milliseconds: 1.5 is half way
 * from the second to the third. `times` rise, and are not empty.
 */
export function indexOf(time: number, times: readonly number[], length: number): number {
  const last = times.length - 1;
  const [begin = 0, end = 0] = [times[0], times[last]];
  if (time <= begin) return (time - begin) / length;
  if (time >= end) return last + (time - end) / length;
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= time) low = middle;
    else high = middle;
  }
  const [from = 0, to = 0] = [times[low], times[high]];
  return low + (time - from) / (to - from);
}

/** The time at a place among the candles: the inverse of `indexOf`. */
export function timeAt(index: number, times: readonly number[], length: number): number {
  const last = times.length - 1;
  const [begin = 0, end = 0] = [times[0], times[last]];
  if (index <= 0) return begin + index * length;
  if (index >= last) return end + (index - last) * length;
  const low = Math.floor(index);
  const [from = 0, to = 0] = [times[low], times[low + 1]];
  return from + (index - low) * (to - from);
}
