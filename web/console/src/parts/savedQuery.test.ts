import { expect, test } from "vitest";
import { withoutPlace } from "./savedQuery.ts";

test("a view has the filters, and no place in the list", () => {
  expect(withoutPlace("operator=alice&after=1234&first=2026-01-31")).toBe("operator=alice&first=2026-01-31");
  expect(withoutPlace("page=3&size=100&sort=-total")).toBe("size=100&sort=-total");
  expect(withoutPlace("after=9")).toBe("");
  expect(withoutPlace("")).toBe("");
});

test("a view has no letters that it could not be saved with", () => {
  expect(withoutPlace("q=M\u00fcller %2B")).toBe("q=M%C3%BCller+%2B");
});
