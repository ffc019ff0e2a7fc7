import { expect, it } from "vitest";
import { SYMBOLS_MAX, symbolsOf, withMode } from "./mode.ts";

it.each([
  [null, []],
  ["", []],
  ["{", []],
  ['{"a":1}', []],
  ['["BTC-USD",3,"ETH-USD"]', ["BTC-USD", "ETH-USD"]],
])("of the kept text %j the markets %j are in margin mode", (text, symbols) => {
  expect(symbolsOf(text)).toEqual(symbols);
});

it("keeps a choice for each market, and the newest of too many", () => {
  expect(withMode([], "BTC-USD", "margin")).toEqual(["BTC-USD"]);
  expect(withMode(["BTC-USD", "ETH-USD"], "BTC-USD", "margin")).toEqual(["ETH-USD", "BTC-USD"]);
  expect(withMode(["BTC-USD", "ETH-USD"], "BTC-USD", "spot")).toEqual(["ETH-USD"]);
  const many = Array.from({ length: SYMBOLS_MAX }, (_, at) => `A${at}-USD`);
  expect(withMode(many, "BTC-USD", "margin")).toEqual([...many.slice(1), "BTC-USD"]);
  expect(symbolsOf(JSON.stringify(["BTC-USD", ...many]))).toEqual(many);
});
