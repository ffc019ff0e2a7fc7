import { expect, test } from "vitest";
import { languageName } from "./languageName.ts";

test.each([
  [null, "not chosen"],
  ["de", "German"],
  ["pt-BR", "Brazilian Portuguese"],
  // Two regions: the form of a tag, and none.
  ["de-de-de", "de-de-de"],
])("the language %s is shown as %s", (tag, name) => {
  expect(languageName(tag)).toBe(name);
});
