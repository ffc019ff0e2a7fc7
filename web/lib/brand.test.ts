import { describe, expect, it } from "vitest";
import { OPENSPOT, readBrand } from "./brand.ts";

const LINK = { title: "Terms", url: "/legal/terms" };

describe("the brand of config.json", () => {
  it("is OpenSpot's own where the operator gave none", () => {
    expect(readBrand(undefined)).toEqual(OPENSPOT);
  });

  it("has a name, a logo, links and legal texts", () => {
    const brand = { name: "Example", logo: "/brand/logo.svg", links: [], legal: [LINK] };
    expect(readBrand(brand)).toEqual(brand);
    expect(readBrand({ name: "Example", links: [LINK], legal: [] })).toEqual({
      name: "Example",
      logo: null,
      links: [LINK],
      legal: [],
    });
  });

  it.each([
    null,
    {},
    { name: "x" },
    { name: 1, links: [], legal: [] },
    { name: "x", links: [{}], legal: [] },
  ])("refuses %j", (content) => {
    expect(() => readBrand(content)).toThrow("config.json: brand.");
  });
});
