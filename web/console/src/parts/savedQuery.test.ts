import { expect, test } from "vitest";
import { withoutPlace } from "./savedQuery.ts";

test("a view has the filters, and no place in the list", () => {
  expect(withoutPlace("operator=alice&after=1234&first=2026-01-31", "orders")).toBe(
    "operator=alice&first=2026-01-31",
  );
  expect(withoutPlace("page=3&size=100&sort=-total", "orders")).toBe("size=100&sort=-total");
  expect(withoutPlace("after=9", "orders")).toBe("");
  expect(withoutPlace("", "orders")).toBe("");
});

test("a view has no letters that it could not be saved with", () => {
  expect(withoutPlace("q=M\u00fcller %2B", "orders")).toBe("q=M%C3%BCller+%2B");
});

test("a view of a user's page names no account of that user", () => {
  expect(withoutPlace("tab=orders&account=margin%3AU1", "user")).toBe("tab=orders");
  expect(withoutPlace("account=house%3Afees", "treasury")).toBe("account=house%3Afees");
});
