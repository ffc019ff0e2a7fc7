/** Another market beside the candles of one: its closes at their times, and how much they have changed. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { type Candle, canvasValue } from "./candles.ts";

/** The close of the other market at each of `times`: the last one known by then, null before its first. Both rise. */
export function closesAt(times: readonly number[], others: readonly Candle[]): (number | null)[] {
  let next = 0;
  let close: number | null = null;
  return times.map((time) => {
    for (; next < others.length; next += 1) {
      const candle = others[next];
      if (!candle || candle.timestamp > time) break;
      close = canvasValue(candle.close);
    }
    return close;
  });
}

/** The change in percent from the first known close at or after `from` to the one at `at`; null without one of them. */
export function changeAt(closes: readonly (number | null)[], from: number, at: number): number | null {
  const base = closes.slice(Math.max(from, 0)).find((close) => close !== null);
  const close = closes[at];
  return base == null || close == null || base === 0 ? null : (close / base - 1) * 100;
}

/** "+1.20 %", "−0.35 %" */
export function percentText(change: number | null): string {
  if (change === null) return "–";
  return `${change > 0 ? "+" : ""}${formatDecimal(change.toFixed(2))} %`;
}

/**
 * The kept markets with one more, or with one less. Of `most` places none is for `shown`, the market of the page: it
 * makes room for the new one, since nobody sees it among the others there. The same list if there is no room.
 */
export function toggled(
  kept: readonly string[],
  symbol: string,
  shown: string,
  most: number,
): readonly string[] {
  if (kept.includes(symbol)) return kept.filter((name) => name !== symbol);
  const others = kept.length < most ? kept : kept.filter((name) => name !== shown);
  return others.length < most ? [...others, symbol] : kept;
}
