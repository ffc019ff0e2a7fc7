import { describe, expect, it } from "vitest";
import { RefusedError } from "../api/errors.ts";
import { collect, patient, readKept, type ReadPage } from "./reading.ts";

/** The numbers from `newest` down to 1, so many on a page. */
function countdown(newest: number, size: number) {
  const asked: string[] = [];
  const read: ReadPage<number> = (cursor) => {
    asked.push(cursor ?? "first");
    const start = cursor === undefined ? newest : newest - cursor.length;
    const rows = Array.from({ length: Math.min(size, start) }, (_, index) => start - index);
    const left = start - rows.length;
    return Promise.resolve({ rows, next: left > 0 ? "x".repeat(newest - left) : null });
  };
  return { read, asked };
}

const all = { keeps: () => true, isPast: () => false };
const below = (limit: number) => ({ ...all, keeps: (row: number) => row < limit });
const nothing = () => undefined;
const few = { rowsMin: 1, requestsMax: 5 };

describe("a page of what a filter keeps", () => {
  it("is the list's own page where nothing is filtered", async () => {
    const { read, asked } = countdown(10, 4);
    expect(await readKept(read, all, undefined, few)).toEqual({ rows: [10, 9, 8, 7], next: "xxxx", last: 7 });
    expect((await readKept(read, all, "xxxxxxxx", few)).next).toBeNull();
    expect(asked).toEqual(["first", "xxxxxxxx"]);
  });

  it("reads on until something is kept", async () => {
    const { read, asked } = countdown(10, 4);
    expect(await readKept(read, below(4), undefined, few)).toEqual({ rows: [3], next: "xxxxxxxx", last: 3 });
    expect(asked).toHaveLength(2);
  });

  it("reads on until enough is kept", async () => {
    const { read, asked } = countdown(12, 4);
    const odd = { ...all, keeps: (row: number) => row % 2 === 1 };
    const page = await readKept(read, odd, undefined, { rowsMin: 3, requestsMax: 5 });
    expect(page).toEqual({ rows: [11, 9, 7, 5], next: "xxxxxxxx", last: 5 });
    expect(asked).toHaveLength(2);
  });

  it("stops for the reader after so many requests, and says how far it has looked", async () => {
    const { read, asked } = countdown(100, 4);
    expect(await readKept(read, below(2), undefined, { rowsMin: 1, requestsMax: 3 })).toMatchObject({
      rows: [],
      last: 89,
    });
    expect(asked).toHaveLength(3);
  });

  it("ends where the rest is too old", async () => {
    const { read, asked } = countdown(100, 4);
    const sieve = { keeps: (row: number) => row > 90 && row < 94, isPast: (row: number) => row <= 90 };
    expect(await readKept(read, sieve, "xxxx", few)).toMatchObject({ rows: [93], next: "xxxxxxxx" });
    expect(await readKept(read, sieve, "xxxxxxxx", few)).toMatchObject({ rows: [92, 91], next: null });
    expect(asked).toHaveLength(2);
  });

  it("of an empty list is empty", async () => {
    const { read } = countdown(0, 4);
    expect(await readKept(read, all, undefined, few)).toEqual({ rows: [], next: null, last: null });
  });
});

describe("a whole list", () => {
  const wide = { rowsMax: 100, requestsMax: 100 };

  it("comes with every row once, and tells its progress", async () => {
    const seen: number[] = [];
    const { rows, cutAt } = await collect(countdown(10, 4).read, all, wide, (count) => seen.push(count));
    expect(rows).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(cutAt).toBeNull();
    expect(seen).toEqual([4, 8, 10]);
  });

  it("is cut after so many rows, and says so only if there are more", async () => {
    const cut = await collect(countdown(10, 4).read, all, { ...wide, rowsMax: 6 }, nothing);
    expect(cut).toEqual({ rows: [10, 9, 8, 7, 6, 5], cutAt: 5 });
    const fits = await collect(countdown(10, 4).read, all, { ...wide, rowsMax: 10 }, nothing);
    expect(fits.cutAt).toBeNull();
  });

  it("is cut after so many requests", async () => {
    const cut = await collect(countdown(100, 4).read, below(97), { ...wide, requestsMax: 2 }, nothing);
    expect(cut).toEqual({ rows: [96, 95, 94, 93], cutAt: 93 });
  });

  it("is not read past what is too old", async () => {
    const { read, asked } = countdown(100, 4);
    const sieve = { keeps: (row: number) => row > 94, isPast: (row: number) => row <= 94 };
    expect((await collect(read, sieve, wide, nothing)).rows).toEqual([100, 99, 98, 97, 96, 95]);
    expect(asked).toHaveLength(2);
  });
});

describe("patience", () => {
  const busy = (retryAfter: number | null) => new RefusedError(429, { message: "too many" }, retryAfter);
  const page = { rows: [1], next: null };

  it("waits as long as the exchange asks, and goes on", async () => {
    const waits: number[] = [];
    const answers = [busy(3), busy(null), page];
    const read = patient(
      () => {
        const answer = answers.shift() ?? page;
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      (seconds) => {
        waits.push(seconds);
        return Promise.resolve();
      },
    );
    expect(await read(undefined)).toEqual(page);
    expect(waits).toEqual([3, 1]);
  });

  it("ends, and does not cover other failures", async () => {
    let count = 0;
    const stubborn = patient(
      () => {
        count += 1;
        return Promise.reject(busy(1));
      },
      () => Promise.resolve(),
    );
    await expect(stubborn(undefined)).rejects.toThrow("too many");
    expect(count).toBe(20);
    const failing = patient(
      () => Promise.reject(new RefusedError(503, null, null)),
      () => Promise.reject(new Error("it waited")),
    );
    await expect(failing(undefined)).rejects.toThrow("503");
  });
});
