/** Counts, sizes and durations: whole numbers that are no money, so they may be JavaScript numbers. */
import { formatDecimal } from "./decimal.ts";

const COUNT = /^\d{1,9}$/;
const ONE_PLACE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1, useGrouping: false });

/** A whole number with its thousands in groups. */
export function formatCount(count: number | bigint): string {
  return formatDecimal(String(count));
}

/** A rate or average with at most one digit after the point. */
export function formatRate(rate: number): string {
  return formatDecimal(ONE_PLACE.format(rate));
}

/** The whole number that a text of the address bar or a field writes, or null. */
export function parseCount(text: string | null): number | null {
  if (text === null || !COUNT.test(text)) return null;
  // eslint-disable-next-line openspot/decimal-text -- a page number or a fee in basis points, of nine digits at most
  return Number(text);
}

/** A size in the largest binary unit that leaves a number of at least one: 1536 → "1.5 KiB". */
export function formatBytes(bytes: bigint): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let size = Number(bytes);
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${formatRate(size)} ${units[unit] ?? ""}`;
}

/** A duration in its two largest units: 93 784 000 ms → "1 d 2 h". Seconds stand alone below a minute. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

/** The noun in the number that `count` asks for: 1 order, 2 orders. */
export function plural(count: number | bigint, singular: string, several = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 || count === 1n ? singular : several}`;
}
