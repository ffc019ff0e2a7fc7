/**
 * The values of the chart's indicators, as TA-Lib computes them (values.test.ts compares). Pure.
 *
 * They stand on a canvas, so they are JavaScript numbers. Each list has a value for each bar; null where an indicator
 * has none yet.
 */

export interface Bar {
  /** Begin, in seconds since 1970. */
  time: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

export type Values = readonly (number | null)[];

/** Simple moving average. */
export function sma(values: readonly number[], period: number): Values {
  let sum = 0;
  return values.map((value, at) => {
    sum += value;
    if (at >= period) sum -= values[at - period] ?? 0;
    return at >= period - 1 ? sum / period : null;
  });
}

/** Exponential moving average, which begins with the simple one of the first `period` values from `from` on. */
export function ema(values: readonly number[], period: number, from = 0): Values {
  const first = from + period - 1;
  const weight = 2 / (period + 1);
  let sum = 0;
  let average = 0;
  return values.map((value, at) => {
    if (at < from) return null;
    if (at <= first) sum += value;
    if (at < first) return null;
    average = at === first ? sum / period : average + weight * (value - average);
    return average;
  });
}

export interface Band {
  upper: Values;
  middle: Values;
  lower: Values;
}

/** Bollinger bands: the simple moving average, and so many standard deviations (of the whole period) around it. */
export function bollinger(values: readonly number[], period: number, deviations: number): Band {
  const middle = sma(values, period);
  const width = middle.map((mean, at) => {
    if (mean === null) return null;
    const squares = values
      .slice(at - period + 1, at + 1)
      .reduce((sum, value) => sum + (value - mean) ** 2, 0);
    return deviations * Math.sqrt(squares / period);
  });
  const around = (sign: 1 | -1) =>
    middle.map((mean, at) => (mean === null ? null : mean + sign * (width[at] ?? 0)));
  return { upper: around(1), middle, lower: around(-1) };
}

/** The mean of the first `period` values, then Wilder's: one part of the new value, `period` − 1 of the mean before. */
function wilder(values: readonly number[], period: number): Values {
  let mean = 0;
  return values.map((value, at) => {
    if (at < period) mean += value / period;
    else mean = (mean * (period - 1) + value) / period;
    return at < period - 1 ? null : mean;
  });
}

/** Relative strength index, 0 to 100; 50 where the price has not moved. */
export function rsi(values: readonly number[], period: number): Values {
  const changes = values.slice(1).map((value, at) => value - (values[at] ?? value));
  const gains = wilder(
    changes.map((change) => Math.max(change, 0)),
    period,
  );
  const losses = wilder(
    changes.map((change) => Math.max(-change, 0)),
    period,
  );
  return values.map((_, at) => {
    const gain = gains[at - 1] ?? null;
    const loss = losses[at - 1] ?? null;
    if (gain === null || loss === null) return null;
    return gain + loss === 0 ? 50 : (100 * gain) / (gain + loss);
  });
}

export interface Macd {
  macd: Values;
  signal: Values;
  histogram: Values;
}

/** Moving average convergence and divergence: a quick average less a slow one, its own average, and their distance. */
export function macd(values: readonly number[], fast: number, slow: number, period: number): Macd {
  const [quick, long] = fast <= slow ? [fast, slow] : [slow, fast];
  // Both averages have their first value at the same bar.
  const quickly = ema(values, quick, long - quick);
  const slowly = ema(values, long);
  const line = values.map((_, at) => difference(quickly[at], slowly[at]));
  const signal = ema(
    line.map((value) => value ?? 0),
    period,
    long - 1,
  );
  const isShown = (at: number) => (signal[at] ?? null) !== null;
  return {
    macd: line.map((value, at) => (isShown(at) ? value : null)),
    signal,
    histogram: line.map((value, at) => difference(value, signal[at])),
  };
}

function difference(one: number | null | undefined, other: number | null | undefined): number | null {
  return one == null || other == null ? null : one - other;
}

/** Average true range. */
export function atr(bars: readonly Bar[], period: number): Values {
  const ranges = bars.slice(1).map(({ high, low }, at) => {
    const before = bars[at]?.close ?? low;
    return Math.max(high, before) - Math.min(low, before);
  });
  return [null, ...wilder(ranges, period)].slice(0, bars.length);
}

const DAY_S = 86_400;

/** Volume-weighted average price since the begin of the day in UTC, by each bar's mean of high, low and close. */
export function vwap(bars: readonly Bar[]): Values {
  let day = -1;
  let worth = 0;
  let volume = 0;
  return bars.map((bar) => {
    const today = Math.floor(bar.time / DAY_S);
    if (today !== day) [day, worth, volume] = [today, 0, 0];
    worth += ((bar.high + bar.low + bar.close) / 3) * bar.volume;
    volume += bar.volume;
    return volume === 0 ? null : worth / volume;
  });
}

export interface ProfileRow {
  low: number;
  high: number;
  /** Volume of bars that closed at or above their open, and of the others. */
  rising: number;
  falling: number;
}

/** The volume at each of `count` ranges of price; a bar's volume is spread evenly from its low to its high. */
export function volumeProfile(bars: readonly Bar[], count: number): ProfileRow[] {
  if (bars.length === 0) return [];
  const bottom = bars.reduce((least, { low }) => Math.min(least, low), Infinity);
  const top = bars.reduce((most, { high }) => Math.max(most, high), -Infinity);
  const height = (top - bottom) / count;
  if (height === 0) return [profileRow(bottom, top, bars)];
  const rows = Array.from({ length: count }, (_, at) => ({
    low: bottom + at * height,
    high: bottom + (at + 1) * height,
    rising: 0,
    falling: 0,
  }));
  const rowOf = (price: number) => Math.min(count - 1, Math.floor((price - bottom) / height));
  for (const bar of bars) {
    const side = bar.close < bar.open ? "falling" : "rising";
    const range = bar.high - bar.low;
    for (const row of rows.slice(rowOf(bar.low), rowOf(bar.high) + 1)) {
      const part = range === 0 ? 1 : (Math.min(bar.high, row.high) - Math.max(bar.low, row.low)) / range;
      row[side] += bar.volume * Math.max(0, part);
    }
  }
  return rows;
}

function profileRow(low: number, high: number, bars: readonly Bar[]): ProfileRow {
  const sum = (isFalling: boolean) =>
    bars.reduce((total, bar) => total + (bar.close < bar.open === isFalling ? bar.volume : 0), 0);
  return { low, high, rising: sum(false), falling: sum(true) };
}
