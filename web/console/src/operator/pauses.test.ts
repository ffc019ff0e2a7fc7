import { expect, test } from "vitest";
import { type Pause, pauseOf, scopeText } from "./pauses.ts";

const PAUSE: Pause = {
  asset: "BTC",
  network: null,
  direction: "withdrawals",
  notice: "",
  reason: "maintenance",
  pausedBy: "user:ada",
  pausedAt: "2026-01-01T00:00:00.000Z",
};

test("a pause concerns what it names, in its direction alone", () => {
  expect(pauseOf([PAUSE], "BTC", "bitcoin", "withdrawals")).toBe(PAUSE);
  expect(pauseOf([PAUSE], "BTC", "bitcoin", "deposits")).toBeUndefined();
  expect(pauseOf([PAUSE], "ETH", "ethereum", "withdrawals")).toBeUndefined();
  const ofNetwork = { ...PAUSE, asset: null, network: "ethereum" };
  expect(pauseOf([ofNetwork], "USDT", "ethereum", "withdrawals")).toBe(ofNetwork);
});

test("a scope is told in words", () => {
  expect(scopeText(PAUSE)).toBe("BTC on all networks");
  expect(scopeText({ asset: null, network: "tron" })).toBe("every coin on tron");
  expect(scopeText({ asset: "BTC", network: "bitcoin" })).toBe("BTC on bitcoin");
});
