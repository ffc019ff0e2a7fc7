import { afterEach, describe, expect, it, vi } from "vitest";
import { formatBytes, formatCount, formatDuration, formatRate, parseCount, plural } from "./counts.ts";
import { isLoopback, isOffline } from "./network.ts";
import { readPageConfig } from "./pageConfig.ts";
import { clampPage, pageCount, pageRange } from "./paging.ts";
import { appendSample, axisTicks, nearestIndex, ratesOf, runsOf, ticksAround } from "./series.ts";
import { findShortcut } from "./shortcuts.ts";
import { createStore } from "./store.ts";
import { contrast, dark, light, SHAPE_PAIRS, TEXT_PAIRS } from "./theme/tokens.ts";
import { allZones, formatClock, formatTime, formatUtc, isZone } from "./time.ts";
import { arrange, nextSort, readPage, readSort, withChanges } from "./urlState.ts";
import { percentOfBps, percentOfRate } from "./rates.ts";

const at = Date.UTC(2026, 10, 22, 9, 5, 3, 120);

describe("times", () => {
  it("shows a moment in every zone", () => {
    expect(formatTime(at, "UTC")).toBe("22 Nov 2026 09:05:03");
    expect(formatTime(at, "Asia/Kolkata")).toBe("22 Nov 2026 14:35:03");
    expect(formatTime(at, "America/New_York")).toBe("22 Nov 2026 04:05:03");
    expect(formatClock(Date.UTC(2026, 0, 1), "UTC")).toBe("00:00:00");
    expect(formatUtc(at)).toBe("2026-11-22 09:05:03.120 UTC");
  });

  it("knows zones by name", () => {
    expect(isZone("Europe/Berlin")).toBe(true);
    expect(isZone("local")).toBe(true);
    expect(isZone("Mars/Olympus")).toBe(false);
    expect(allZones()[0]).toBe("UTC");
    expect(new Set(allZones()).size).toBe(allZones().length);
  });
});

describe("counts", () => {
  it("groups thousands, whatever the size", () => {
    expect(formatCount(1234567)).toBe("1,234,567");
    expect(formatCount(18446744073709551615n)).toBe("18,446,744,073,709,551,615");
    expect(formatRate(12.345)).toBe("12.3");
    expect(plural(1, "order")).toBe("1 order");
    expect(plural(0n, "order")).toBe("0 orders");
    expect(plural(2, "currency", "currencies")).toBe("2 currencies");
  });

  it("reads whole numbers and nothing else", () => {
    expect(parseCount("42")).toBe(42);
    for (const text of [null, "", "-1", "1.5", "1e3", "0x1", " 1", "1234567890"])
      expect(parseCount(text)).toBeNull();
  });

  it("writes sizes and durations in their largest units", () => {
    expect([formatBytes(0n), formatBytes(1536n), formatBytes(1n << 30n)]).toEqual([
      "0 bytes",
      "1.5 KiB",
      "1 GiB",
    ]);
    expect(formatDuration(-5)).toBe("0 s");
    expect(formatDuration(59_999)).toBe("59 s");
    expect(formatDuration(60_000)).toBe("1 min");
    expect(formatDuration(93_784_000)).toBe("1 d 2 h");
    expect(formatDuration(86_400_000 + 5_000)).toBe("1 d");
  });
});

describe("pages", () => {
  it("names the rows that they show", () => {
    expect(pageRange({ index: 0, size: 50 }, 120)).toEqual({ first: 1, last: 50 });
    expect(pageRange({ index: 2, size: 50 }, 120)).toEqual({ first: 101, last: 120 });
    expect(pageRange({ index: 0, size: 50 }, 0)).toEqual({ first: 0, last: 0 });
    expect([pageCount(0, 50), pageCount(50, 50), pageCount(51, 50)]).toEqual([1, 1, 2]);
    expect(clampPage({ index: 9, size: 50 }, 120).index).toBe(2);
  });

  it("live in the address, where what is wrong is the default", () => {
    expect(readPage(new URLSearchParams("page=3&size=25"))).toEqual({ index: 2, size: 25 });
    expect(readPage(new URLSearchParams("page=-1&size=7"))).toEqual({ index: 0, size: 50 });
    expect(readPage(new URLSearchParams("page=0"))).toEqual({ index: 0, size: 50 });
  });
});

describe("the address", () => {
  it("goes back to page one when a filter changes, and drops what is empty", () => {
    const before = new URLSearchParams("page=4&symbol=BTC-USD&status=OPEN");
    expect(withChanges(before, { status: "" }).toString()).toBe("symbol=BTC-USD");
    expect(withChanges(before, { page: "5" }).get("page")).toBe("5");
    expect(before.get("page")).toBe("4");
  });

  it("keeps the order of a list: ascending, descending, its own", () => {
    expect(readSort(new URLSearchParams("sort=-total"))).toEqual({ column: "total", descending: true });
    expect(readSort(new URLSearchParams(""))).toBeNull();
    expect(nextSort(null, "a")).toBe("a");
    expect(nextSort({ column: "a", descending: false }, "a")).toBe("-a");
    expect(nextSort({ column: "a", descending: true }, "a")).toBeNull();
    expect(nextSort({ column: "b", descending: true }, "a")).toBe("a");
  });

  it("arranges a list without touching it", () => {
    const rows = [3, 1, 2];
    const compare = (a: number, b: number) => a - b;
    expect(arrange(rows, compare, true, { index: 0, size: 2 })).toEqual([3, 2]);
    expect(arrange(rows, compare, false, { index: 1, size: 2 })).toEqual([3]);
    expect(arrange(rows, undefined, false, { index: 0, size: 5 })).toEqual([3, 1, 2]);
    expect(rows).toEqual([3, 1, 2]);
  });
});

describe("series", () => {
  const sample = (time: number, count: bigint) => ({ at: time, count });

  it("keeps what is young enough, and begins again when the clock was set back", () => {
    const samples = [sample(0, 0n), sample(5_000, 1n)];
    expect(appendSample(samples, sample(12_000, 2n), 10_000, 10)).toHaveLength(2);
    expect(appendSample(samples, sample(6_000, 2n), 10_000, 2).map(({ count }) => count)).toEqual([1n, 2n]);
    expect(appendSample(samples, sample(4_000, 9n), 10_000, 10)).toEqual([sample(4_000, 9n)]);
  });

  it("turns counters into rates and leaves a restart out", () => {
    const samples = [sample(0, 10n), sample(2_000, 30n), sample(4_000, 0n), sample(6_000, 5n)];
    expect(ratesOf(samples, ({ count }) => count)).toEqual([
      { at: 2_000, value: 10 },
      { at: 6_000, value: 2.5 },
    ]);
    expect(ratesOf([], ({ count }: { at: number; count: bigint }) => count)).toEqual([]);
  });

  it.each([
    [0, [0, 1]],
    [Number.NaN, [0, 1]],
    [1, [0, 0.5, 1]],
    [137, [0, 50, 100, 150]],
    [100, [0, 50, 100]],
    [7, [0, 5, 10]],
  ])("has round ticks up to %d", (maximum, ticks) => {
    expect(axisTicks(maximum, 3)).toEqual(ticks);
  });

  it("never has more steps than asked for, and reaches the maximum", () => {
    for (let maximum = 0.001; maximum < 1e9; maximum *= 1.37) {
      const ticks = axisTicks(maximum, 3);
      expect(ticks.length).toBeLessThanOrEqual(4);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(maximum * (1 - 1e-9));
    }
  });

  it("shows what is below nothing, as what the outside world is owed", () => {
    expect(ticksAround([3, 1], 3)).toEqual(axisTicks(3, 3));
    expect(ticksAround([], 3)).toEqual([0, 1]);
    expect(ticksAround([-43, -20], 3)).toEqual([-60, -40, -20, 0]);
    expect(ticksAround([-3, 5], 3)).toEqual([-3, -2, -1, 0, 2, 4, 6]);
  });

  it("finds the nearest point", () => {
    const points = [0, 10, 20].map((time) => ({ at: time, value: 0 }));
    expect([nearestIndex(points, -5), nearestIndex(points, 14), nearestIndex(points, 99)]).toEqual([0, 1, 2]);
    expect(nearestIndex([], 5)).toBe(-1);
  });

  it("breaks a line where a value is not known", () => {
    const points = [null, 1, 2, null, null, 3, null].map((value, at) => ({ at, value }));
    expect(runsOf(points).map((run) => run.map(({ at, value }) => [at, value]))).toEqual([
      [
        [1, 1],
        [2, 2],
      ],
      [[5, 3]],
    ]);
    expect(runsOf([])).toEqual([]);
  });
});

describe("shortcuts", () => {
  it("takes a pair before a single key", () => {
    const known = [{ keys: "r" }, { keys: "g r" }, { keys: "g o" }];
    expect(findShortcut(known, "g", "r")?.keys).toBe("g r");
    expect(findShortcut(known, null, "r")?.keys).toBe("r");
    expect(findShortcut(known, "x", "r")?.keys).toBe("r");
    expect(findShortcut(known, null, "o")).toBeUndefined();
  });
});

describe("a store", () => {
  it("tells its followers of changes alone", () => {
    const store = createStore(1);
    const seen: number[] = [];
    const leave = store.subscribe(() => seen.push(store.get()));
    store.set(1);
    store.set(2);
    leave();
    store.set(3);
    expect(seen).toEqual([2]);
  });
});

describe("the page's configuration", () => {
  const whole = { engineUrl: "http://h:8090/", restUrl: "http://h:3001", wsUrl: "ws://h:3002" };

  it("is read without closing slashes", () => {
    expect(readPageConfig(whole).engineUrl).toBe("http://h:8090");
  });

  it("plays deposits only where the web server says so", () => {
    expect(readPageConfig(whole).simulatesDeposits).toBe(false);
    expect(readPageConfig({ ...whole, simulatesDeposits: true }).simulatesDeposits).toBe(true);
  });

  it("names the services that run, and null for those that do not", () => {
    const beside = { positionsUrl: "http://h:3008/" };
    expect(readPageConfig({ ...whole, ...beside })).toMatchObject({
      positionsUrl: "http://h:3008",
      subscriptionsUrl: null,
    });
    expect(() => readPageConfig({ ...whole, subscriptionsUrl: "nowhere" })).toThrow(/subscriptionsUrl/);
  });

  it.each([null, [], {}, { ...whole, wsUrl: "" }, { ...whole, engineUrl: 5 }])("refuses %j", (content) => {
    expect(() => readPageConfig(content)).toThrow(/config\.json/);
  });
});

it("writes basis points in percent, a maker's rebate too", () => {
  expect([25, 10, 1, 0, -5].map(percentOfBps)).toEqual(["0.25 %", "0.1 %", "0.01 %", "0 %", "−0.05 %"]);
});

it("writes a rate in percent", () => {
  expect(percentOfRate("0.035")).toBe("3.5 %");
  expect(percentOfRate("0.000001")).toBe("0.0001 %");
});

describe("colours", () => {
  it("measures contrast as WCAG does", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
    expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  });

  it.each([
    ["light", light],
    ["dark", dark],
  ])("of the %s theme can be read", (_, colours) => {
    for (const [text, behind] of TEXT_PAIRS) {
      expect(contrast(colours[text], colours[behind]), `${text} on ${behind}`).toBeGreaterThanOrEqual(4.5);
    }
    for (const [shape, behind] of SHAPE_PAIRS) {
      expect(contrast(colours[shape], colours[behind]), `${shape} on ${behind}`).toBeGreaterThanOrEqual(3);
    }
  });
});

describe("a network that is gone", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("is no reason for silence of this computer's own addresses", () => {
    vi.stubGlobal("navigator", { onLine: false });
    expect(isOffline("https://exchange.example:3001")).toBe(true);
    for (const own of [
      "http://127.0.0.1:3001",
      "http://127.9.8.7",
      "http://localhost:3001",
      "http://[::1]:3001",
    ])
      expect([isLoopback(own), isOffline(own)]).toEqual([true, false]);
    for (const other of ["http://localhost.example", "http://128.0.0.1", "nonsense"])
      expect(isLoopback(other)).toBe(false);
    vi.stubGlobal("navigator", { onLine: true });
    expect(isOffline("https://exchange.example:3001")).toBe(false);
  });
});
