import { expect, it } from "vitest";
import { modeOf, SYMBOLS_MAX, symbolsOf, withMode } from "./mode.ts";

it.each([
  [null, []],
  ["", []],
  ["{", []],
  ['{"a":1}', []],
  ['["BTC-USD",3,"ETH-USD"]', ["BTC-USD", "ETH-USD"]],
])("of the kept text %j the markets %j are in margin mode", (text, symbols) => {
  expect(symbolsOf(text)).toEqual(symbols);
});

it("trades a market with one's own funds unless margin offers it, whatever was chosen", () => {
  const chosen = ["BTC-USD", "DOGE-USD"];
  expect(modeOf(chosen, { symbol: "BTC-USD", margin: true })).toBe("margin");
  expect(modeOf(chosen, { symbol: "ETH-USD", margin: true })).toBe("spot");
  expect(modeOf(chosen, { symbol: "DOGE-USD", margin: false })).toBe("spot");
  expect(modeOf(chosen, undefined)).toBe("spot");
});

it("keeps a choice for each market, and the newest of too many", () => {
  expect(withMode([], "BTC-USD", "margin")).toEqual(["BTC-USD"]);
  expect(withMode(["BTC-USD", "ETH-USD"], "BTC-USD", "margin")).toEqual(["ETH-USD", "BTC-USD"]);
  expect(withMode(["BTC-USD", "ETH-USD"], "BTC-USD", "spot")).toEqual(["ETH-USD"]);
  const many = Array.from({ length: SYMBOLS_MAX }, (_, at) => `A${at}-USD`);
  expect(withMode(many, "BTC-USD", "margin")).toEqual([...many.slice(1), "BTC-USD"]);
  expect(symbolsOf(JSON.stringify(["BTC-USD", ...many]))).toEqual(many);
});
