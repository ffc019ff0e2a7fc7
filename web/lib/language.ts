/**
 * The texts of the pages in the reader's language. English texts stand in the sources and are the keys of the other
 * languages' catalogues, which are loaded when they are wanted. A text without a translation is shown in English.
 *
 * `t` is called while something is drawn, never while a file is loaded: only then does a change of language reach it.
 * Tables of texts that are made while a file is loaded are marked with `texts`, and go through `t` where they are shown.
 */
import { createElement, Fragment, type ReactNode } from "react";
import { formatCount } from "./counts.ts";
import { createStore, useStore } from "./store.ts";

/** The languages of the pages, with their own names. The first is that of the sources. */
export const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  "pt-BR": "Português (Brasil)",
} as const;
export type Language = keyof typeof LANGUAGES;
export const SOURCE_LANGUAGE = "en";

/** A text for each form of plural that a language has: those of `Intl.PluralRules`. */
export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;
/** Texts by the English ones. Those with a count have forms, and stand under the English text of several. */
export type Catalogue = Readonly<Record<string, string | Forms>>;

/** The names in braces: of "{amount} of {asset}" they are "amount" and "asset". */
type Names<Message extends string> = Message extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
/** A value for each name of the message; without names there is nothing to give. */
type Values<Message extends string, Value> = [Names<Message>] extends [never]
  ? []
  : [values: Readonly<Record<Names<Message>, Value>>];
type Shown = string | number | bigint;

interface State {
  language: Language;
  catalogue: Catalogue;
  rules: Intl.PluralRules;
}

const ENGLISH: State = {
  language: SOURCE_LANGUAGE,
  catalogue: {},
  rules: new Intl.PluralRules(SOURCE_LANGUAGE),
};

const PLACEHOLDER = /\{(\w+)\}/;
/** Behind a bar stands what is meant, where one English text has two meanings: "To|asset". */
const MEANING = /\|\w+$/;

const store = createStore(ENGLISH);

/** The language that the page is shown in. */
export const useLanguage = (): Language => useStore(store).language;
export const shownLanguage = (): Language => store.get().language;
/** Hear of every change of the language. */
export const onLanguage = store.subscribe;

/** Show the texts of a catalogue from now on. What is on the screen has to be drawn again. */
export function showLanguage(language: Language, catalogue: Catalogue): void {
  store.set({ language, catalogue, rules: new Intl.PluralRules(language) });
}

function found(message: string): string {
  const text = store.get().catalogue[message];
  return typeof text === "string" ? text : message.replace(MEANING, "");
}

function filled(text: string, values: Readonly<Record<string, Shown>> = {}): string {
  return text
    .split(PLACEHOLDER)
    .map((part, at) => (at % 2 === 0 ? part : String(values[part] ?? "")))
    .join("");
}

/** A text in the language of the page, with a value for each name in braces. */
export function t<Message extends string>(message: Message, ...[values]: Values<Message, Shown>): string {
  return filled(found(message), values);
}

/** A text with parts of the page in it: elements where its names in braces stand. */
export function rich<Message extends string>(
  message: Message,
  ...[values]: Values<Message, ReactNode>
): ReactNode {
  const parts = found(message)
    .split(PLACEHOLDER)
    .map((part, at) => (at % 2 === 0 ? part : (values as Readonly<Record<string, ReactNode>>)[part]));
  return createElement(Fragment, null, ...parts);
}

/** The text for a count: "{count} order" for one, "{count} orders" for several. The count is written in groups. */
export function several(
  count: number | bigint,
  one: string,
  other: string,
  values?: Readonly<Record<string, Shown>>,
): string {
  const { catalogue, rules } = store.get();
  const forms = catalogue[other];
  const form = rules.select(Number(count));
  const text =
    typeof forms === "object"
      ? (forms[form] ?? forms.other ?? other)
      : count === 1 || count === 1n
        ? one
        : other;
  return filled(text, { ...values, count: formatCount(count) });
}

/** A title as it stands within a sentence: with small letters, but in German, whose nouns keep their capitals. */
export function inSentence(title: string): string {
  return store.get().language === "de" ? title : title.toLowerCase();
}

/** Marks a table whose texts are shown through `t`, so that the catalogues must have them. */
export const texts = <Table>(table: Table): Table => table;

/** The language of the pages that a language tag asks for, or null: "pt" and "pt-PT" ask for Brazilian Portuguese. */
export function languageOf(tag: string | null | undefined): Language | null {
  const wanted = tag?.toLowerCase().split("-")[0];
  return (
    (Object.keys(LANGUAGES) as Language[]).find(
      (language) => language.toLowerCase().split("-")[0] === wanted,
    ) ?? null
  );
}

/** The locale of figures and dates: the browser's own where it has the language of the page. */
export function pageLocale(): string {
  const { language } = store.get();
  const browser = globalThis.navigator.language;
  return languageOf(browser) === language ? browser : language;
}
