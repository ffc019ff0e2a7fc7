import { expect, it } from "vitest";
import { habitsOf, sizesOf } from "./habits.ts";
import { momentOf, typedMoment } from "./moments.ts";
import { offerOf } from "./offer.ts";
import type { TradingRules } from "../api/queries.ts";

it("reads what was kept, and nothing else", () => {
  expect(habitsOf('{"sizes":{"BTC-USD":["0.1","1"]},"oneClick":true}')).toEqual({
    sizes: { "BTC-USD": ["0.1", "1"] },
    oneClick: true,
  });
  const nothing = { sizes: {}, oneClick: false };
  for (const text of [null, "", "null", "[1]x", '{"oneClick":"yes"}'])
    expect(habitsOf(text)).toEqual(nothing);
  expect(habitsOf('{"sizes":{"BTC-USD":["-1",2,"0","1","2","3","4","5"],"ETH-USD":7}}').sizes).toEqual({
    "BTC-USD": ["1", "2", "3", "4"],
    "ETH-USD": [],
  });
});

it.each([
  ["0.1  0.5 1", ["0.1", "0.5", "1"]],
  ["", []],
  ["1 1", ["1"]],
  ["1 2 3 4 5", null],
  ["0", null],
  ["a", null],
])("takes up to four sizes: %j", (typed, sizes) => {
  expect(sizesOf(typed)).toEqual(sizes);
});

it.each([
  ["2026-11-30T18:30", "UTC", "2026-11-30T18:30:00.000Z"],
  ["2026-11-30T18:30", "America/New_York", "2026-11-30T23:30:00.000Z"],
  ["2026-07-01T00:00", "Asia/Kathmandu", "2026-06-30T18:15:00.000Z"],
  // The clock goes from 02:00 to 03:00 in this night: there is no such time.
  ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:00:00.000Z"],
])("%s in %s is %s", (typed, zone, utc) => {
  expect(new Date(momentOf(typed, zone) ?? 0).toISOString()).toBe(utc);
});

it.each([
  ["2026-11-30T18:30", "UTC"],
  ["2026-11-30T00:00", "America/New_York"],
  ["2026-07-01T00:05", "Asia/Kathmandu"],
  // The clock goes from 03:00 to 02:00 in this night: it is the first of two.
  ["2026-10-25T02:30", "Europe/Berlin"],
])("the field says %s in %s again", (typed, zone) => {
  expect(typedMoment(momentOf(typed, zone), zone)).toBe(typed);
});

it("says of no moment nothing", () => {
  expect(typedMoment(null, "UTC")).toBe("");
});

it.each(["", "2026-11-30", "2026-02-30T10:00", "2026-11-30T25:00"])("%j is no time", (typed) => {
  expect(momentOf(typed, "UTC")).toBeNull();
});

it("offers what the exchange offers, and knows", () => {
  const rules = {
    orderTypes: ["limit", "market", "stop_limit", "iceberg"],
    timesInForce: ["gtd", "gtc"],
    triggerSources: ["mark", "last"],
    postOnly: true,
    postOnlyModes: ["refuse", "slide"],
    selfTradePreventionModes: ["none"],
    orderListTypes: ["oco", "bracket"],
    icebergs: true,
    rules: "complete",
  } as unknown as TradingRules;
  expect(offerOf(rules)).toEqual({
    types: ["limit", "market", "stop_limit"],
    times: ["gtc", "gtd"],
    triggers: ["last", "mark"],
    postOnly: true,
    postOnlySlides: true,
    selfTradePrevention: ["none"],
    lists: ["oco", "bracket"],
    icebergs: true,
  });
  expect(offerOf(undefined)).toEqual({
    types: ["limit", "market"],
    times: [],
    triggers: ["last"],
    postOnly: false,
    postOnlySlides: false,
    selfTradePrevention: [],
    lists: [],
    icebergs: false,
  });
});
