import { describe, expect, test } from "vitest";
import { choiceOf, INDICATORS, titleOf } from "./choice.ts";

const FIRST = choiceOf(null);

test("at the first visit no indicator is shown, each with its usual periods", () => {
  expect(Object.keys(FIRST)).toEqual(INDICATORS.map(({ id }) => id));
  for (const { id, defaults } of INDICATORS)
    expect(FIRST[id]).toEqual({ isShown: false, parameters: defaults });
});

test("what was kept comes back", () => {
  const kept = { ...FIRST, macd: { isShown: true, parameters: [5, 35, 5] } };
  expect(choiceOf(JSON.stringify(kept))).toEqual(kept);
});

describe("what a kept text has wrong is as at the first visit", () => {
  test.each(["", "no json", "null", "[]", "7", '{"sma-1": null}', '{"sma-1": "20"}', '{"unknown": {}}'])(
    "%s",
    (text) => expect(choiceOf(text)).toEqual(FIRST),
  );
  test.each([[0], [501], [2.5], ["20"], [], [20, 20], [null]])("a period of %j", (...period) => {
    const text = JSON.stringify({ "sma-1": { isShown: true, parameters: period } });
    expect(choiceOf(text)["sma-1"]).toEqual({ isShown: true, parameters: [20] });
  });
});

test("a title has the name and all periods", () => {
  const titles = INDICATORS.map((one) => titleOf(one, one.defaults));
  expect(titles).toContain("SMA 20");
  expect(titles).toContain("MACD 12 26 9");
  expect(new Set(titles).size).toBe(INDICATORS.length);
});
