import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPace } from "./pace.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the first change is painted at once, and what follows together at the end of the time", async () => {
  const pace = createPace();
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
  const pace = createPace();
  const paint = vi.fn();
  pace.request(paint);
  await vi.advanceTimersByTimeAsync(1000);
  pace.request(paint);
  expect(paint).toHaveBeenCalledTimes(2);
});

test("what is withdrawn is not painted", async () => {
  const pace = createPace();
  const paint = vi.fn();
  pace.request(paint);
  pace.request(paint);
  pace.withdraw(paint);
  await vi.advanceTimersByTimeAsync(1000);
  expect(paint).toHaveBeenCalledTimes(1);
});

test("a computer that paints slowly paints less often", async () => {
  let clock = 0;
  const pace = createPace(100, () => clock);
  const paint = vi.fn(() => void (clock += 50));
  pace.request(paint);
  pace.request(paint);
  await vi.advanceTimersByTimeAsync(399);
  expect(paint).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(paint).toHaveBeenCalledTimes(2);
});
