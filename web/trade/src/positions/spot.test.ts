import { describe, expect, it } from "vitest";
import { compareKnown } from "./spot.ts";

describe("the order of holdings", () => {
  it("is by value, and what is unknown comes before a loss", () => {
    const values = ["10", null, "9", "-1", null, "0"];
    expect(values.sort(compareKnown)).toEqual([null, null, "-1", "0", "9", "10"]);
  });
});
