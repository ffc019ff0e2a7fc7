import { afterEach, expect, it } from "vitest";
import { type Language, showLanguage } from "#lib/language.ts";
import { countries } from "./countries.ts";

afterEach(() => showLanguage("en", {}));

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

it.each<[Language, string, string, string, string]>([
  ["de", "Deutschland", "Österreich", "Afghanistan", "Zypern"],
  ["es", "Alemania", "Austria", "Afganistán", "Zimbabue"],
  ["pt-BR", "Alemanha", "Áustria", "Afeganistão", "Zimbábue"],
])(
  "countries have their names in %s, in its order, with the same codes",
  (language, germany, austria, ...ends) => {
    const english = countries().map(({ value }) => value);
    showLanguage(language, {});
    const found = countries();
    const labels = found.map(({ label }) => label);
    expect(found).toContainEqual({ value: "DE", label: germany });
    expect(found).toContainEqual({ value: "AT", label: austria });
    expect([labels[0], labels.at(-1)]).toEqual(ends);
    expect(labels).toEqual(labels.toSorted((a, b) => a.localeCompare(b, language)));
    expect(found.map(({ value }) => value).sort()).toEqual(english.sort());
  },
);
