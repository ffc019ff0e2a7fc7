import { expect, it } from "vitest";
import { changed, favouritesIn, movable, readNames } from "./watchlist.ts";

const list = (name: string, ...symbols: string[]) => ({ name, symbols, updatedAt: "2026-01-01T00:00:00Z" });

it("reads what a browser keeps, each market once and nothing else", () => {
  expect(readNames("BTC-USD x ETH-USD BTC-USD <b>")).toEqual(["BTC-USD", "ETH-USD"]);
  expect(readNames(null)).toEqual([]);
});

it("moves the markets that still exist, in their order and within the bound", () => {
  expect(movable(["OLD-USD", "ETH-USD", "BTC-USD"], ["BTC-USD", "ETH-USD"])).toEqual(["ETH-USD", "BTC-USD"]);
  const many = Array.from({ length: 501 }, (_, number) => `M${String(number)}-USD`);
  expect(movable(many, many)).toHaveLength(500);
});

it("changes one list as the edge does, and makes it if it is not there", () => {
  const lists = [list("favourites", "A-USD", "B-USD"), list("other", "A-USD")];
  const after = changed(lists, "favourites", { add: ["C-USD", "A-USD"], remove: ["B-USD"] });
  expect(favouritesIn(after, "favourites")).toEqual(["A-USD", "C-USD"]);
  expect(favouritesIn(after, "other")).toEqual(["A-USD"]);
  expect(
    favouritesIn(changed(undefined, "favourites", { add: ["A-USD"], remove: [] }), "favourites"),
  ).toEqual(["A-USD"]);
});
