/** Cumulative depth around the middle of a book. */
import type { Book, Level, Side } from "../stream/book.ts";

export interface DepthPoint {
  side: Side;
  price: bigint;
  /** The quantity at this price and all better ones. */
  total: bigint;
}

export interface DepthSeries {
  /** From the best price outwards. */
  bids: readonly DepthPoint[];
  asks: readonly DepthPoint[];
  low: bigint;
  high: bigint;
  deepest: bigint;
}

/** The depth within `percent` of the middle price, or null if a side is empty. */
export function depthSeries(book: Book, percent: bigint): DepthSeries | null {
  const [bid, ask] = [book.bids[0], book.asks[0]];
  if (!bid || !ask) return null;
  const middle = (bid.scaledPrice + ask.scaledPrice) / 2n;
  const low = middle - (middle * percent) / 100n;
  const high = middle + (middle * percent) / 100n;
  const bids = cumulative(book.bids, "bids", (price) => price >= low);
  const asks = cumulative(book.asks, "asks", (price) => price <= high);
  const [bidTotal, askTotal] = [bids.at(-1)?.total ?? 0n, asks.at(-1)?.total ?? 0n];
  return { bids, asks, low, high, deepest: bidTotal > askTotal ? bidTotal : askTotal };
}

function cumulative(
  levels: readonly Level[],
  side: Side,
  isWithin: (price: bigint) => boolean,
): DepthPoint[] {
  const points: DepthPoint[] = [];
  let total = 0n;
  for (const { scaledPrice, scaledQuantity } of levels) {
    if (!isWithin(scaledPrice)) break;
    total += scaledQuantity;
    points.push({ side, price: scaledPrice, total });
  }
  return points;
}

/** The point that counts at a share of the range, from 0 on the left to 1 on the right. */
export function nearestPoint(series: DepthSeries, share: number): DepthPoint | null {
  const { bids, asks, low, high } = series;
  const price = low + ((high - low) * BigInt(Math.round(share * 1_000_000))) / 1_000_000n;
  const [bid, ask] = [bids[0], asks[0]];
  const isLeft = ask === undefined || (bid !== undefined && price * 2n <= bid.price + ask.price);
  const side = isLeft ? bids : asks;
  const beyond = side.filter((point) => (isLeft ? point.price >= price : point.price <= price));
  return beyond.at(-1) ?? side[0] ?? null;
}
