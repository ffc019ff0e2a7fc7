/** The catalogues have every text of the trading screen, with its placeholders and its forms of plural, and no more. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Message, messagesOf, placeholdersOf } from "../../eslint/messages.js";
import type { Reasons } from "../src/api/reasons.ts";
import { type Catalogue, type Language, LANGUAGES, several, showLanguage, t } from "#lib/language.ts";

const web = join(import.meta.dirname, "../..");
const OTHERS = Object.keys(LANGUAGES).filter((language) => language !== "en") as Language[];

const catalogueOf = (language: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `${language}.json`), "utf8")) as Catalogue;

/** Reasons of refusals by the English ones. `tests/unit/test_refusal_reasons.py` compares them with the services. */
const reasonsOf = (language: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "reasons", `${language}.json`), "utf8")) as Reasons;
/** Values of a reason that tell its reader nothing new: another language may leave them out. */
const NEEDLESS = ["action", "event", "id", "kind", "name", "note", "place"];

/** Every text that the sources of the trading screen show, and of what it shares with the console. */
const messages = new Map<string, Message>(
  ["lib", "trade/src"].flatMap((folder) =>
    readdirSync(join(web, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."))
      .flatMap((name) => {
        const path = join(web, folder, name);
        return messagesOf(path, readFileSync(path, "utf8")).map((found) => [found.message, found] as const);
      }),
  ),
);

afterEach(() => showLanguage("en", {}));

it("the sources have texts, with and without a count", () => {
  expect(messages.size).toBeGreaterThan(1500);
  expect(messages.get("{count} orders cancelled")?.one).toBe("{count} order cancelled");
});

it("every catalogue is that of a language, and every language has one", () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".json"));
  expect(files.sort()).toEqual(OTHERS.map((language) => `${language}.json`).sort());
});

describe.each(OTHERS)("the catalogue %s", (language) => {
  const catalogue = catalogueOf(language);
  const textsOf = (message: string) => {
    const found = catalogue[message] ?? "";
    return typeof found === "string" ? [found] : Object.values(found);
  };

  it("has every text", () => {
    expect([...messages.keys()].filter((message) => !(message in catalogue))).toEqual([]);
  });

  it("has no text that nobody shows", () => {
    expect(Object.keys(catalogue).filter((message) => !messages.has(message))).toEqual([]);
  });

  it("has the placeholders of the English texts", () => {
    const differing = [...messages.keys()].filter((message) =>
      textsOf(message).some(
        (text) => placeholdersOf(text).join() !== placeholdersOf(message).join() || text.trim() !== text,
      ),
    );
    expect(differing).toEqual([]);
  });

  it("has the reasons of the other catalogues, with their figures and no others", () => {
    const reasons = Object.entries(reasonsOf(language));
    expect(reasons.map(([english]) => english)).toEqual(Object.keys(reasonsOf("de")));
    const wrong = reasons.filter(([english, text]) => {
      const names = placeholdersOf(english);
      const shown = placeholdersOf(text);
      const isWhole = names.every((name) => shown.includes(name) || NEEDLESS.includes(name));
      return (
        text.trim() === "" || text.trim() !== text || !isWhole || shown.some((one) => !names.includes(one))
      );
    });
    expect(wrong).toEqual([]);
  });

  it("has every form of plural for texts with a count, and one text for the others", () => {
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted().join();
    const wrong = [...messages.values()].filter(({ message, one }) => {
      const found = catalogue[message];
      return one === undefined
        ? typeof found !== "string" || found === ""
        : typeof found !== "object" || Object.keys(found).toSorted().join() !== forms;
    });
    expect(wrong).toEqual([]);
  });
});

it("a text is shown in the language of the page, in the form of its count", () => {
  showLanguage("de", catalogueOf("de"));
  expect(t("Order book")).toBe("Orderbuch");
  expect(t("at {price}", { price: "100" })).toBe("zu 100");
  const cancelled = (count: number) => several(count, "{count} order cancelled", "{count} orders cancelled");
  expect(cancelled(1)).toBe("1 Auftrag storniert");
  expect(cancelled(3)).toBe("3 Aufträge storniert");
});
