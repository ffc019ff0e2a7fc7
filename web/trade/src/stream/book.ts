/**
 * A market's order book, kept from the WebSocket edge's snapshots and updates as docs/guides/order-book.md says. It
 * knows nothing of React or of sockets.
 */
import { ceilTo, floorTo, multiplyScaled, scaledText, toScaled } from "#lib/scaled.ts";
import { crc32 } from "./crc32.ts";

export type Side = "bids" | "asks";

/** Price and quantity as the edge sends them; quantity "0" removes the level. */
export type WireLevel = readonly [price: string, quantity: string];

export interface BookMessage {
  type: "snapshot" | "update";
  seq: number;
  prevSeq: number;
  bids: readonly WireLevel[];
  asks: readonly WireLevel[];
  checksum: number;
}

export interface Level {
  /** The text that the edge sent: checksums are made of it. */
  price: string;
  quantity: string;
  scaledPrice: bigint;
  scaledQuantity: bigint;
}

/** Both sides, the best level first. */
export interface Book {
  seq: number;
  bids: readonly Level[];
  asks: readonly Level[];
}

export type Outcome =
  /** The book is now what the message says. */
  | "applied"
  /** There is no book yet, and the message does not begin one. */
  | "ignored"
  /** A message was missed: the book is dropped, subscribe again. */
  | "gap"
  /** The book differs from the edge's: it is dropped, subscribe again. */
  | "mismatch";

const CHECKSUM_LEVELS = 10;

export interface BookKeeper {
  apply: (message: BookMessage) => Outcome;
  drop: () => void;
  /** The book, or null while there is none. Each change makes a new one. */
  book: () => Book | null;
}

/** A keeper without a book. */
export function keepBook(): BookKeeper {
  let book: Book | null = null;
  return {
    book: () => book,
    drop() {
      book = null;
    },
    apply(message) {
      const isSnapshot = message.type === "snapshot";
      if (!isSnapshot && book === null) return "ignored";
      if (!isSnapshot && message.prevSeq !== book?.seq) {
        book = null;
        return "gap";
      }
      const before = isSnapshot ? null : book;
      const next = {
        seq: message.seq,
        bids: merge(before?.bids ?? [], message.bids, "bids"),
        asks: merge(before?.asks ?? [], message.asks, "asks"),
      };
      book = checksumOf(next) === message.checksum ? next : null;
      return book ? "applied" : "mismatch";
    },
  };
}

/** The CRC-32 of the best ten levels, bid before ask. */
export function checksumOf(book: Book): number {
  const parts: string[] = [];
  for (let index = 0; index < CHECKSUM_LEVELS; index += 1) {
    for (const level of [book.bids[index], book.asks[index]]) {
      if (level) parts.push(level.price, level.quantity);
    }
  }
  return parts.length === 0 ? 0 : crc32(parts.join(":"));
}

function merge(levels: readonly Level[], changes: readonly WireLevel[], side: Side): readonly Level[] {
  if (changes.length === 0) return levels;
  const merged = [...levels];
  for (const [price, quantity] of changes) {
    const level = { price, quantity, scaledPrice: toScaled(price), scaledQuantity: toScaled(quantity) };
    const index = placeOf(merged, level.scaledPrice, side);
    const isKnown = merged[index]?.scaledPrice === level.scaledPrice;
    if (level.scaledQuantity === 0n) {
      if (isKnown) merged.splice(index, 1);
    } else {
      merged.splice(index, isKnown ? 1 : 0, level);
    }
  }
  return merged;
}

/** Where a price stands in a side, or would stand. */
function placeOf(levels: readonly Level[], price: bigint, side: Side): number {
  let low = 0;
  let high = levels.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = levels[middle]?.scaledPrice ?? 0n;
    if (side === "bids" ? found > price : found < price) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A row of the book on screen. */
export interface Row {
  price: string;
  scaledPrice: bigint;
  quantity: bigint;
  /** This row and all better ones: quantity, or what it costs at each level's own price if that was asked for. */
  total: bigint;
}

/**
 * The best `count` rows of a side with levels of one `step` in one row. Bids go down to the step and asks up, so that
 * a grouped price is never better than the orders behind it. Totals are in the base asset, or with `inQuote` in the
 * quote asset.
 */
export function groupLevels(
  levels: readonly Level[],
  side: Side,
  step: bigint,
  count: number,
  inQuote = false,
): Row[] {
  const rows: Row[] = [];
  let total = 0n;
  for (const { scaledPrice, scaledQuantity } of levels) {
    const price = side === "bids" ? floorTo(scaledPrice, step) : ceilTo(scaledPrice, step);
    const last = rows.at(-1);
    total += inQuote ? multiplyScaled(scaledPrice, scaledQuantity) : scaledQuantity;
    if (last?.scaledPrice === price) {
      last.quantity += scaledQuantity;
      last.total = total;
    } else {
      if (rows.length === count) break;
      rows.push({ price: scaledText(price), scaledPrice: price, quantity: scaledQuantity, total });
    }
  }
  return rows;
}

/** The steps that a book can be grouped by: the tick and 1-2-5 multiples of it that `price` can show. */
export function groupingSteps(tick: bigint, price: bigint | null): bigint[] {
  const largest = price === null ? tick * 100n : price / 50n;
  const steps: bigint[] = [];
  for (let power = 1n; steps.length < 10; power *= 10n) {
    for (const factor of [1n, 5n]) {
      const step = tick * power * factor;
      if (steps.length === 0 || step <= largest) steps.push(step);
    }
    if (tick * power * 10n > largest) break;
  }
  return steps;
}
