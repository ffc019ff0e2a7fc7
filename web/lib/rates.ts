/** Rates as texts. Pure. */
import { formatDecimal } from "./decimal.ts";
import { multiplyScaled, ONE, readScaled, scaledText } from "./scaled.ts";

const PERCENT = 100n * ONE;

/** A yearly rate in percent: "0.035" → "3.5 %". */
export function percentOfRate(apr: string): string {
  const value = readScaled(apr);
  return value === null ? apr : `${formatDecimal(scaledText(multiplyScaled(value, PERCENT)))} %`;
}

/** Basis points as a figure in percent: 25 → "0.25". */
export function percentFigure(bps: number): string {
  return formatDecimal(scaledText((BigInt(bps) * ONE) / 100n));
}

/** Basis points in percent: 25 → "0.25 %". */
export function percentOfBps(bps: number): string {
  return `${percentFigure(bps)} %`;
}
