import { expect, test } from "vitest";
import { indexOf, timeAt } from "./timeAxis.ts";

/** Nothing was traded between 300 and 600. */
const TIMES = [100, 200, 300, 600, 700];
const LENGTH = 100;

test("times between, before and after the candles have places", () => {
  const index = (time: number) => indexOf(time, TIMES, LENGTH);
  expect([100, 250, 450, 700, 950, -50].map(index)).toEqual([0, 1.5, 2.5, 4, 6.5, -1.5]);
});

test("a place leads back to its time: a point stays where it was put", () => {
  for (const time of [-250, 100, 130, 299, 300, 599, 650, 700, 1_234])
    expect(timeAt(indexOf(time, TIMES, LENGTH), TIMES, LENGTH)).toBeCloseTo(time);
  expect(timeAt(indexOf(70, [50], LENGTH), [50], LENGTH)).toBeCloseTo(70);
});
