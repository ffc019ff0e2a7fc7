/** Prices of a line that is moved: whole steps of the market, above zero. Pure. */
import { floorTo, readScaled, scaledText, toScaled } from "#lib/scaled.ts";

function atLeastOneStep(value: bigint, size: bigint): string {
  return scaledText(value < size ? size : value);
}

/** The price of the market that is nearest to a drawn one. */
export function nearestPrice(drawn: string, step: string): string {
  const size = toScaled(step);
  return atLeastOneStep(floorTo((readScaled(drawn) ?? 0n) + size / 2n, size), size);
}

/** A price, moved by some steps. */
export function movedPrice(price: string, step: string, by: bigint): string {
  const size = toScaled(step);
  return atLeastOneStep(floorTo(toScaled(price), size) + size * by, size);
}
