import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPace } from "./pace.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the first change is painted at once, and what follows together at the end of the time", () => {
  const pace = createPace();
  const [book, trades] = [vi.fn(), vi.fn()];
  pace.request(book);
  expect(book).toHaveBeenCalledTimes(1);
  for (let count = 0; count < 5; count += 1) {
    pace.request(book);
    pace.request(trades);
  }
  expect(trades).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  expect(book).toHaveBeenCalledTimes(2);
  expect(trades).toHaveBeenCalledTimes(1);
});

test("after a pause a change is painted at once again", () => {
  const pace = createPace();
  const paint = vi.fn();
  pace.request(paint);
  vi.advanceTimersByTime(1000);
  pace.request(paint);
  expect(paint).toHaveBeenCalledTimes(2);
});

test("what is withdrawn is not painted", () => {
  const pace = createPace();
  const paint = vi.fn();
  pace.request(paint);
  pace.request(paint);
  pace.withdraw(paint);
  vi.advanceTimersByTime(1000);
  expect(paint).toHaveBeenCalledTimes(1);
});
