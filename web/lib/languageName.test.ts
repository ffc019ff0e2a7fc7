import { expect, test } from "vitest";
import { languageName } from "./languageName.ts";

test.each([
  ["de", "en", "German"],
  ["pt-BR", "en", "Brazilian Portuguese"],
  ["en", "de", "Englisch"],
  // Two regions: the form of a tag, and none.
  ["de-de-de", "en", "de-de-de"],
])("the language %s is in the locale %s called %s", (tag, locale, name) => {
  expect(languageName(tag, locale)).toBe(name);
});
