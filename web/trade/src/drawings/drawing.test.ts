import { expect, test } from "vitest";
import {
  type Change,
  changed,
  type Drawing,
  DRAWINGS_MAX,
  inverse,
  partsOf,
  possibleText,
  possibleTime,
  PUT_MAX,
  readDrawings,
  TEXT_LENGTH_MAX,
} from "./drawing.ts";

const line = (id: string, price = "1"): Drawing => ({
  id,
  kind: "horizontal_line",
  points: [{ time: 0, price }],
  colour: "blue",
  width: 2,
  text: "",
});
const many = (count: number) => Array.from({ length: count }, (_, at) => line(String(at)));

test("every change is taken back by its inverse, also after the drawings of another window have come", () => {
  const before = [line("a"), line("b")];
  const changes: Change[] = [
    { put: [line("c")], remove: [] },
    { put: [line("a", "2")], remove: ["b"] },
    { put: [], remove: ["a", "b"] },
  ];
  for (const change of changes) {
    const back = inverse(before, change);
    const after = changed([...changed(before, change), line("other")], back);
    expect(new Set(after)).toEqual(new Set([...before, line("other")]));
  }
});

test("what is put again keeps its place", () => {
  expect(changed([line("a"), line("b")], { put: [line("a", "2")], remove: [] })).toEqual([
    line("a", "2"),
    line("b"),
  ]);
});

test("a large change is sent in parts that the edge takes, and loses nothing", () => {
  const parts = partsOf({ put: many(2 * PUT_MAX + 1), remove: ["x"] });
  expect(parts.map(({ put, remove }) => [put.length, remove.length])).toEqual([
    [PUT_MAX, 1],
    [PUT_MAX, 0],
    [1, 0],
  ]);
});

test("what a browser keeps is read back, and what the edge would refuse is left out", () => {
  const text: Drawing = { ...line("t"), kind: "text", text: "Support" };
  expect(readDrawings(JSON.stringify([line("a"), text]))).toEqual([line("a"), text]);
  const wrong = [
    null,
    { ...line("a b") },
    { ...line("a"), kind: "circle" },
    { ...line("a"), kind: "ray" },
    { ...line("a"), points: [{ time: 1.5, price: "1" }] },
    { ...line("a"), points: [{ time: -1, price: "1" }] },
    { ...line("a"), points: [{ time: 1, price: "0" }] },
    { ...line("a"), points: [{ time: 1, price: "1e3" }] },
    { ...line("a"), colour: "red" },
    { ...line("a"), width: 4 },
    { ...line("a"), text: "x".repeat(TEXT_LENGTH_MAX + 1) },
    { ...line("a"), text: "two\nlines" },
    { ...line("a"), kind: "text" },
  ];
  for (const one of wrong) expect(readDrawings(JSON.stringify([one, line("z")]))).toEqual([line("z")]);
  for (const broken of [null, "", "{", "{}", "3"]) expect(readDrawings(broken)).toEqual([]);
  expect(readDrawings(JSON.stringify(many(DRAWINGS_MAX + 1)))).toHaveLength(DRAWINGS_MAX);
});

test("typed texts and dragged times become such as the edge takes", () => {
  expect(possibleText(" a\tb ")).toBe("a b");
  expect(Array.from(possibleText("😀".repeat(TEXT_LENGTH_MAX + 5)))).toHaveLength(TEXT_LENGTH_MAX);
  expect([-5, 1.4, 1e18].map(possibleTime)).toEqual([0, 1, 253_402_300_799_999]);
});
