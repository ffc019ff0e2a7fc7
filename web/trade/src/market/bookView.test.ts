import { expect, it } from "vitest";
import { readView } from "./bookView.ts";

it("reads the view that a browser keeps, and takes the first one for what it does not know", () => {
  expect(readView("bids quote")).toEqual({ sides: "bids", inQuote: true });
  expect(readView("asks base")).toEqual({ sides: "asks", inQuote: false });
  for (const text of [null, "", "x y", "both"])
    expect(readView(text)).toEqual({ sides: "both", inQuote: false });
});
