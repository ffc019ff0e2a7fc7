import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, describe, expect, it } from "vitest";
import { inSentence, languageOf, rich, several, showLanguage, shownLanguage, t, texts } from "./language.ts";

afterEach(() => showLanguage("en", {}));

describe("texts", () => {
  it("are English where the language has none", () => {
    showLanguage("de", {});
    expect(t("Order book")).toBe("Order book");
    expect(several(2, "{count} row", "{count} rows")).toBe("2 rows");
    expect(several(1, "{count} row", "{count} rows")).toBe("1 row");
  });

  it("may say which of two meanings they have", () => {
    expect(t("To|asset")).toBe("To");
    showLanguage("de", { To: "Bis", "To|asset": "In" });
    expect([t("To"), t("To|asset")]).toEqual(["Bis", "In"]);
  });

  it("have a value for each name, which is not read as a text with names", () => {
    expect(t("{amount} of {asset}", { amount: "{asset}", asset: "BTC" })).toBe("{asset} of BTC");
  });

  it("may have their values in another order", () => {
    showLanguage("es", { "{amount} of {asset}": "{asset}: {amount}" });
    expect(t("{amount} of {asset}", { amount: 5, asset: "BTC" })).toBe("BTC: 5");
  });

  it("have elements where names stand, and show markup of values as text", () => {
    showLanguage("de", { "No account? {link}": "{link} Kein Konto?" });
    const link = createElement("a", { href: "/" }, "<b>");
    expect(renderToStaticMarkup(rich("No account? {link}", { link }))).toBe(
      '<a href="/">&lt;b&gt;</a> Kein Konto?',
    );
  });

  it("take the form of plural that the language has for the count", () => {
    showLanguage("es", {
      "{count} rows": { one: "{count} fila", many: "{count} de filas", other: "{count} filas" },
    });
    const rows = (count: number | bigint) => several(count, "{count} row", "{count} rows");
    expect([rows(1), rows(2n), rows(1_000_000)]).toEqual(["1 fila", "2 filas", "1,000,000 de filas"]);
  });

  it("of a table are those of the sources, to be translated where they are shown", () => {
    const table = texts({ open: ["Open", "accent"] });
    showLanguage("de", { Open: "Offen" });
    expect(table).toEqual({ open: ["Open", "accent"] });
    expect(t(table.open[0] ?? "")).toBe("Offen");
  });

  it("keep the capitals of German nouns within a sentence", () => {
    expect(inSentence("Open Orders")).toBe("open orders");
    showLanguage("de", {});
    expect(inSentence("Offene Aufträge")).toBe("Offene Aufträge");
  });
});

it.each([
  ["de", "de"],
  ["de-AT", "de"],
  ["pt", "pt-BR"],
  ["PT-pt", "pt-BR"],
  ["es-419", "es"],
  ["en-GB", "en"],
  ["fr", null],
  ["", null],
  [null, null],
])("the tag %j asks for %j", (tag, language) => {
  expect(languageOf(tag)).toBe(language);
});

it("begins in English", () => {
  expect(shownLanguage()).toBe("en");
});
