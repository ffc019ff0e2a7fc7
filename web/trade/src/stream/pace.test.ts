import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPace } from "./pace.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const STILL = { now: () => 0, measureFrame: () => undefined };

test("the first change is painted at once, and what follows together at the end of the time", async () => {
  const pace = createPace(100, STILL);
  const [book, trades] = [vi.fn(), vi.fn()];
  pace.request(book);
  expect(book).toHaveBeenCalledTimes(1);
  for (let count = 0; count < 5; count += 1) {
    pace.request(book);
    pace.request(trades);
  }
  await vi.advanceTimersByTimeAsync(99);
  expect(trades).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(book).toHaveBeenCalledTimes(2);
  expect(trades).toHaveBeenCalledTimes(1);
});

test("after a pause a change is painted at once again", async () => {
  const pace = createPace(100, STILL);
  const paint = vi.fn();
  pace.request(paint);
  await vi.advanceTimersByTimeAsync(1000);
  pace.request(paint);
  expect(paint).toHaveBeenCalledTimes(2);
});

test("what is withdrawn is not painted", async () => {
  const pace = createPace(100, STILL);
  const paint = vi.fn();
  pace.request(paint);
  pace.request(paint);
  pace.withdraw(paint);
  await vi.advanceTimersByTimeAsync(1000);
  expect(paint).toHaveBeenCalledTimes(1);
});

test("a computer that computes its pictures slowly paints less often", async () => {
  let clock = 0;
  const pace = createPace(100, { ...STILL, now: () => clock });
  const paint = vi.fn(() => void (clock += 50));
  pace.request(paint);
  pace.request(paint);
  await vi.advanceTimersByTimeAsync(499);
  expect(paint).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(paint).toHaveBeenCalledTimes(2);
});

test("a computer that draws its frames slowly paints less often", async () => {
  const pace = createPace(100, { ...STILL, measureFrame: (report) => report(60) });
  const paint = vi.fn();
  pace.request(paint);
  pace.request(paint);
  await vi.advanceTimersByTimeAsync(599);
  expect(paint).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(paint).toHaveBeenCalledTimes(2);
});

test("a frame that seemed to take a minute does not stop the prices", async () => {
  const pace = createPace(100, { ...STILL, measureFrame: (report) => report(60_000) });
  const paint = vi.fn();
  pace.request(paint);
  pace.request(paint);
  await vi.advanceTimersByTimeAsync(999);
  expect(paint).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(paint).toHaveBeenCalledTimes(2);
});

test("parts that take long together are painted one after the other, in the order in which they were asked for", async () => {
  const pace = createPace(100, { ...STILL, measureFrame: (report) => report(60) });
  const painted: string[] = [];
  const [book, trades, tickers] = ["book", "trades", "tickers"].map((name) => () => void painted.push(name));
  const requestAll = () => [book, trades, tickers].forEach((paint) => paint && pace.request(paint));
  requestAll();
  await vi.advanceTimersByTimeAsync(600);
  // What a part takes is not known before it was painted once.
  expect(painted).toEqual(["book", "trades", "tickers"]);
  requestAll();
  for (const last of ["book", "trades", "tickers"]) {
    await vi.advanceTimersByTimeAsync(600);
    expect(painted.at(-1)).toBe(last);
  }
  expect(painted).toHaveLength(6);
});

test("parts are painted together again on a computer that is quick again", async () => {
  let took = 60;
  const pace = createPace(100, { ...STILL, measureFrame: (report) => report(took) });
  const [book, trades] = [vi.fn(), vi.fn()];
  const requestBoth = () => [book, trades].forEach((paint) => pace.request(paint));
  requestBoth();
  await vi.advanceTimersByTimeAsync(5_000);
  took = 4;
  for (let count = 0; count < 4; count += 1) {
    requestBoth();
    await vi.advanceTimersByTimeAsync(5_000);
  }
  book.mockClear();
  trades.mockClear();
  pace.request(book);
  requestBoth();
  await vi.advanceTimersByTimeAsync(100);
  expect([book.mock.calls.length, trades.mock.calls.length]).toEqual([2, 1]);
});
