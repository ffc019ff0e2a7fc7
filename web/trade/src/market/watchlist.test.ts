import { expect, it } from "vitest";
import { changed, movable, nameFault, namesOf, readNames, symbolsIn } from "./watchlist.ts";

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
  expect(symbolsIn(after, "favourites")).toEqual(["A-USD", "C-USD"]);
  expect(symbolsIn(after, "other")).toEqual(["A-USD"]);
  expect(symbolsIn(changed(undefined, "favourites", { add: ["A-USD"], remove: [] }), "favourites")).toEqual([
    "A-USD",
  ]);
});

it("names the lists, with favourites first even before they are made", () => {
  expect(namesOf([list("zeta"), list("favourites"), list("alpha")])).toEqual(["favourites", "alpha", "zeta"]);
  expect(namesOf(undefined)).toEqual(["favourites"]);
});

it("takes the names that the edge takes, and none twice", () => {
  const names = ["favourites", "defi"];
  for (const name of ["", "a", "9-lives", "a_b", "a".repeat(32), " layer-2 "])
    expect(nameFault(name, names)).toBeNull();
  for (const name of ["DeFi", "my coins", "-a", "_a", "a".repeat(33), "ä", "a/b"])
    expect(nameFault(name, names)).toBe(
      "Up to 32 small letters, digits, - and _. It begins with a letter or a digit.",
    );
  for (const name of ["defi", "favourites"])
    expect(nameFault(name, names)).toBe("You have a list of this name already.");
});
