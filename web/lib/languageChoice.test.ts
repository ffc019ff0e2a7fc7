import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Catalogue, showLanguage, shownLanguage } from "./language.ts";
import {
  chooseLanguage,
  offersLanguages,
  onLanguageChoice,
  setAccountLanguage,
  startLanguage,
} from "./languageChoice.ts";

const onMissing = vi.fn();
const kept = new Map<string, string>();
const page = { lang: "en" };

beforeEach(() => {
  onMissing.mockClear();
  kept.clear();
  page.lang = "en";
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
  vi.stubGlobal("document", { documentElement: page });
  browserAsks("en-GB");
});

afterEach(() => {
  onLanguageChoice(null);
  showLanguage("en", {});
  vi.unstubAllGlobals();
});

function browserAsks(...languages: string[]): void {
  vi.stubGlobal("navigator", { language: languages[0], languages });
}

const catalogues = {
  de: () => Promise.resolve({ Buy: "Kaufen" }),
  es: () => Promise.resolve({ Buy: "Comprar" }),
  "pt-BR": () => Promise.reject(new Error("no connection")),
};

it("the first language of the browser that the pages have is shown, and named by the page", async () => {
  browserAsks("fr-FR", "de-AT", "en");
  await startLanguage(catalogues, onMissing);
  expect(offersLanguages()).toBe(true);
  expect([shownLanguage(), page.lang]).toEqual(["de", "de"]);
});

it("a choice comes before the browser's language, also after a reload", async () => {
  browserAsks("de");
  await startLanguage(catalogues, onMissing);
  await chooseLanguage("es");
  expect(shownLanguage()).toBe("es");
  showLanguage("en", {});
  await startLanguage(catalogues, onMissing);
  expect(shownLanguage()).toBe("es");
});

it("the account's language comes before the choice, and leaves with the account", async () => {
  await startLanguage(catalogues, onMissing);
  await chooseLanguage("es");
  await setAccountLanguage("de-DE");
  expect(shownLanguage()).toBe("de");
  await setAccountLanguage(null);
  expect(shownLanguage()).toBe("es");
});

it("an account's language that the pages do not have leaves the choice", async () => {
  await startLanguage(catalogues, onMissing);
  await chooseLanguage("es");
  await setAccountLanguage("fr");
  expect(shownLanguage()).toBe("es");
});

it("a choice of somebody who is logged in is told to the account, and shown at once", async () => {
  const tell = vi.fn();
  await startLanguage(catalogues, onMissing);
  await setAccountLanguage("de");
  onLanguageChoice(tell);
  await chooseLanguage("es");
  expect(tell).toHaveBeenCalledExactlyOnceWith("es");
  expect(shownLanguage()).toBe("es");
});

it("a choice that is no language changes nothing", async () => {
  await startLanguage(catalogues, onMissing);
  await chooseLanguage("xx");
  await chooseLanguage(null);
  expect(kept.size).toBe(0);
});

it("a catalogue that cannot be loaded leaves the page as it is, which is told once for each choice", async () => {
  await startLanguage(catalogues, onMissing);
  await chooseLanguage("de");
  expect(onMissing).not.toHaveBeenCalled();
  await chooseLanguage("pt-BR");
  expect([shownLanguage(), page.lang]).toEqual(["de", "de"]);
  expect(onMissing).toHaveBeenCalledExactlyOnceWith("pt-BR");
  // What the account says is read again and again.
  await setAccountLanguage("pt-BR");
  await setAccountLanguage("pt-BR");
  expect(onMissing).toHaveBeenCalledTimes(1);
  await chooseLanguage("pt-BR");
  expect(onMissing).toHaveBeenCalledTimes(2);
});

it("a language that could not be loaded is asked for again by each choice, by the account, and by a reload", async () => {
  const load = vi.fn(() => Promise.reject<Catalogue>(new Error("no connection")));
  await startLanguage({ ...catalogues, de: load }, onMissing);
  await chooseLanguage("de");
  await chooseLanguage("de");
  await setAccountLanguage("de");
  await startLanguage({ ...catalogues, de: load }, onMissing);
  expect(load).toHaveBeenCalledTimes(4);
  load.mockResolvedValue({ Buy: "Kaufen" });
  await setAccountLanguage("de");
  expect(shownLanguage()).toBe("de");
});

it("of two choices the last one is shown, also if its catalogue is there first", async () => {
  let arrive: (catalogue: Record<string, string>) => void = () => undefined;
  await startLanguage({ ...catalogues, de: () => new Promise((resolve) => (arrive = resolve)) }, onMissing);
  const slow = chooseLanguage("de");
  await chooseLanguage("es");
  arrive({ Buy: "Kaufen" });
  await slow;
  expect(shownLanguage()).toBe("es");
});
