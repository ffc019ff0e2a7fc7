import { expect, it } from "vitest";
import { countries } from "./countries.ts";

it("every country of ISO 3166-1 is named once, and nothing else", () => {
  const found = countries();
  const codes = found.map(({ value }) => value);
  expect(codes).toHaveLength(249);
  expect(new Set(codes).size).toBe(249);
  expect(new Set(found.map(({ label }) => label)).size).toBe(249);
  expect(codes).toEqual(expect.arrayContaining(["DE", "GB", "US", "SS", "AX"]));
  for (const none of ["DD", "UK", "EU", "ZZ", "SU", "XK"]) expect(codes).not.toContain(none);
  expect(found[0]?.label).toBe("Afghanistan");
});
