import { describe, expect, it } from "vitest";
import { scaledText, toScaled } from "#lib/scaled.ts";
import {
  type BookMessage,
  checksumOf,
  groupingSteps,
  groupLevels,
  keepBook,
  type WireLevel,
} from "./book.ts";
import { crc32 } from "./crc32.ts";

function message(
  type: "snapshot" | "update",
  seq: number,
  prevSeq: number,
  bids: WireLevel[],
  asks: WireLevel[],
  lines: string,
): BookMessage {
  return { type, seq, prevSeq, bids, asks, checksum: lines === "" ? 0 : crc32(lines) };
}

const SNAPSHOT = message(
  "snapshot",
  5,
  0,
  [
    ["99", "1"],
    ["98.5", "2"],
  ],
  [["100", "3"]],
  "99:1:100:3:98.5:2",
);

describe("CRC-32", () => {
  it("is that of the standard's check value", () => {
    expect(crc32("123456789")).toBe(0xcbf43926);
  });
});

describe("a kept book", () => {
  it("ignores updates until a snapshot begins it", () => {
    const keeper = keepBook();
    expect(keeper.apply(message("update", 6, 5, [["99", "1"]], [], "99:1"))).toBe("ignored");
    expect(keeper.book()).toBeNull();
  });

  it("sets, replaces, removes and sorts levels by number", () => {
    const keeper = keepBook();
    expect(keeper.apply(SNAPSHOT)).toBe("applied");
    const update = message(
      "update",
      9,
      5,
      [
        ["99", "0"],
        ["100.5", "1"],
        ["98.5", "4"],
      ],
      [
        ["100", "0"],
        ["101", "2"],
        ["1000", "1"],
      ],
      "100.5:1:101:2:98.5:4:1000:1",
    );
    expect(keeper.apply(update)).toBe("applied");
    expect(keeper.book()?.bids.map(({ price, quantity }) => [price, quantity])).toEqual([
      ["100.5", "1"],
      ["98.5", "4"],
    ]);
    expect(keeper.book()?.asks.map(({ price }) => price)).toEqual(["101", "1000"]);
    expect(keeper.book()?.seq).toBe(9);
  });

  it("drops itself at a gap, and waits for a snapshot", () => {
    const keeper = keepBook();
    keeper.apply(SNAPSHOT);
    expect(keeper.apply(message("update", 9, 6, [], [["101", "1"]], ""))).toBe("gap");
    expect(keeper.book()).toBeNull();
    expect(keeper.apply(message("update", 10, 9, [], [["102", "1"]], ""))).toBe("ignored");
    expect(keeper.apply(SNAPSHOT)).toBe("applied");
  });

  it("drops itself if the checksum is another one", () => {
    const keeper = keepBook();
    keeper.apply(SNAPSHOT);
    expect(keeper.apply({ ...message("update", 7, 5, [["99", "2"]], [], "99:1:100:3:98.5:2") })).toBe(
      "mismatch",
    );
    expect(keeper.book()).toBeNull();
  });

  it("is replaced by a snapshot with a lower sequence, never merged with it", () => {
    const keeper = keepBook();
    keeper.apply(SNAPSHOT);
    expect(keeper.apply(message("snapshot", 2, 0, [["90", "1"]], [], "90:1"))).toBe("applied");
    expect(keeper.book()).toMatchObject({ seq: 2, asks: [], bids: [{ price: "90" }] });
  });

  it("sums up its best ten levels, and an empty book as 0", () => {
    const level = (price: number) => ({
      price: `${price}`,
      quantity: "1",
      scaledPrice: 0n,
      scaledQuantity: 0n,
    });
    const asks = Array.from({ length: 12 }, (_, index) => level(100 + index));
    const best = asks.slice(0, 10).map(({ price }) => `${price}:1`);
    expect(checksumOf({ seq: 1, bids: [], asks })).toBe(crc32(best.join(":")));
    expect(checksumOf({ seq: 1, bids: [], asks: [] })).toBe(0);
  });
});

describe("grouping", () => {
  const levels = (pairs: [string, string][]) =>
    pairs.map(([price, quantity]) => ({
      price,
      quantity,
      scaledPrice: toScaled(price),
      scaledQuantity: toScaled(quantity),
    }));
  const shown = (rows: ReturnType<typeof groupLevels>) =>
    rows.map(({ price, quantity, total }) => [price, scaledText(quantity), scaledText(total)]);

  it("takes bids down and asks up, and adds up exactly", () => {
    const bids = levels([
      ["100.7", "0.1"],
      ["100.2", "0.2"],
      ["99.9", "1"],
    ]);
    expect(shown(groupLevels(bids, "bids", toScaled("1"), 10))).toEqual([
      ["100", "0.3", "0.3"],
      ["99", "1", "1.3"],
    ]);
    const asks = levels([
      ["101", "1"],
      ["101.1", "2"],
      ["102", "4"],
    ]);
    expect(shown(groupLevels(asks, "asks", toScaled("1"), 10))).toEqual([
      ["101", "1", "1"],
      ["102", "6", "7"],
    ]);
  });

  it("adds up in the quote asset at each level's own price, not at that of its row", () => {
    const bids = levels([
      ["100.7", "0.1"],
      ["100.2", "0.2"],
      ["99.9", "1"],
    ]);
    expect(shown(groupLevels(bids, "bids", toScaled("1"), 10, true))).toEqual([
      ["100", "0.3", "30.11"],
      ["99", "1", "130.01"],
    ]);
  });

  it("shows whole rows alone", () => {
    const bids = levels([
      ["100.7", "1"],
      ["99.9", "1"],
      ["99.2", "1"],
      ["98", "1"],
    ]);
    expect(shown(groupLevels(bids, "bids", toScaled("1"), 2))).toEqual([
      ["100", "1", "1"],
      ["99", "2", "3"],
    ]);
  });

  it("offers the tick first, and no step that the price could not show", () => {
    const steps = groupingSteps(toScaled("0.01"), toScaled("100")).map(scaledText);
    expect(steps).toEqual(["0.01", "0.05", "0.1", "0.5", "1"]);
    expect(groupingSteps(toScaled("0.01"), toScaled("0.02")).map(scaledText)).toEqual(["0.01"]);
  });
});
