import { afterEach, describe, expect, it } from "vitest";
import { formatCount, formatRate } from "./counts.ts";
import { formatDecimal } from "./decimal.ts";
import { decimalForm } from "./decimalForm.ts";
import { separatorsOf, setSeparators, typedDecimal, withDecimalSign } from "./separators.ts";

// The test files share their modules: what follows sees the usual separators again.
afterEach(() => setSeparators(separatorsOf("en")));

const written = (locale: string, text: string, places = 0) => {
  setSeparators(separatorsOf(locale));
  return formatDecimal(text, places);
};

describe("separators", () => {
  it.each([
    ["en-GB", "12,345,678.50"],
    ["de-DE", "12.345.678,50"],
    ["fr-FR", "12\u202f345\u202f678,50"],
    ["en-IN", "1,23,45,678.50"],
    // Arabic digits are not shown: prices and amounts have Latin ones everywhere.
    ["ar-EG", "12,345,678.50"],
  ])("of %s write %s", (locale, shown) => {
    expect(written(locale, "12345678.5", 2)).toBe(shown);
  });

  it("stand in figures of four digits too, where a locale's prose has none", () => {
    expect(written("es-ES", "-1234.5")).toBe("−1.234,5");
    expect(written("pl-PL", "1234")).toBe("1\u00a0234");
  });

  it("keep every digit", () => {
    expect(written("de-DE", "123456789012345678901.123456789012345678")).toBe(
      "123.456.789.012.345.678.901,123456789012345678",
    );
    expect(formatDecimal("no decimal")).toBe("no decimal");
  });

  it("are those of counts and rates as well", () => {
    setSeparators(separatorsOf("de-DE"));
    expect([formatCount(1234567), formatRate(1234.56), withDecimalSign("12.5K")]).toEqual([
      "1.234.567",
      "1.234,6",
      "12,5K",
    ]);
    expect(decimalForm()).toBe("digits with a comma or a point");
  });
});

describe("a decimal that was typed", () => {
  it.each([
    ["en-GB", "0.5", "0.5"],
    ["en-GB", "1,234.5", "1234.5"],
    ["de-DE", "0,5", "0.5"],
    ["de-DE", "0.5", "0.5"],
    ["de-DE", "1.234,56", "1234.56"],
    ["de-DE", "1.234.567,5", "1234567.5"],
    ["fr-FR", "1\u202f234,5", "1234.5"],
    ["fr-FR", "1 234,5", "1234.5"],
    ["de-CH", "1’234.5", "1234.5"],
    ["de-CH", "1'234.5", "1234.5"],
    ["en-IN", "1,23,456.5", "123456.5"],
    ["de-DE", "12", "12"],
    ["de-DE", "0,", "0."],
    ["de-DE", "", ""],
  ])("on a page of %s: %j is %j", (locale, text, decimal) => {
    setSeparators(separatorsOf(locale));
    expect(typedDecimal(text)).toBe(decimal);
  });

  it.each([
    // A comma on a page with points may be a group or the decimal sign of another country.
    ["en-GB", "1,234"],
    ["en-GB", "1,5"],
    ["en-GB", "12,34.5"],
    ["de-DE", "1.2,5"],
    ["de-DE", "1,2,5"],
    ["de-DE", "1.234.567"],
    ["en-GB", "1.2.3"],
    ["de-DE", "1e3"],
  ])("on a page of %s: %j stays as it is, to be refused", (locale, text) => {
    setSeparators(separatorsOf(locale));
    expect(typedDecimal(text)).toBe(text);
  });
});
