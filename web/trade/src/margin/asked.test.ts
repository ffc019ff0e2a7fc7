import { expect, it } from "vitest";
import { askedOfClosing, askedOfMove, moveOf, quantityOf } from "./asked.ts";

it("a close of the whole position is another request than one of a part, and both can be read again", () => {
  expect(new Set([null, "1", "1.5"].map(askedOfClosing)).size).toBe(3);
  for (const quantity of [null, "1.5"]) expect(quantityOf(askedOfClosing(quantity))).toBe(quantity);
});

const move = { direction: "out", asset: "USD", amount: "60.50" } as const;

it("a move of another direction, asset or amount is another request", () => {
  const others = [
    { ...move, direction: "in" as const },
    { ...move, asset: "BTC" },
    { ...move, amount: "60.5" },
  ];
  expect(new Set([move, ...others].map(askedOfMove)).size).toBe(4);
});

it("a dialog begins with the move of unknown outcome, where it is for such a move", () => {
  const asked = askedOfMove(move);
  expect(moveOf(asked, { direction: "out", asset: "" })).toEqual(move);
  expect(moveOf(asked, { direction: "out", asset: "USD" })).toEqual(move);
});

it("a dialog for another move begins with that", () => {
  const asked = askedOfMove(move);
  expect(moveOf(asked, { direction: "in", asset: "" })).toEqual({ direction: "in", asset: "", amount: "" });
  expect(moveOf(asked, { direction: "out", asset: "BTC" }).amount).toBe("");
  expect(moveOf(null, { direction: "out", asset: "" })).toEqual({ direction: "out", asset: "", amount: "" });
});
