/**
 * Which language the page is shown in: that of the account, else what was chosen in this browser, else the browser's.
 * An application that offers languages says how their catalogues are loaded; without that it is in English.
 */
import {
  type Catalogue,
  type Language,
  LANGUAGES,
  languageOf,
  shownLanguage,
  showLanguage,
  SOURCE_LANGUAGE,
} from "./language.ts";
import { keep, readKept } from "./store.ts";

export type Catalogues = Readonly<Partial<Record<Language, () => Promise<Catalogue>>>>;

const CHOSEN_KEY = "openspot.language";
const ACCOUNT_KEY = "openspot.language.account";

let catalogues: Catalogues | null = null;
let tellMissing: (language: Language) => void = () => undefined;
/** The language whose absence was told: what tries again by itself need not tell it twice. */
let missing: Language | null = null;
let tellAccount: ((language: Language) => void) | null = null;

const kept = (key: string) => languageOf(readKept(() => localStorage, key));

/** Whether the application has more than one language to choose from. */
export const offersLanguages = () => catalogues !== null;

function wanted(): Language {
  const ofBrowser = navigator.languages.map(languageOf).find((language) => language !== null);
  return kept(ACCOUNT_KEY) ?? kept(CHOSEN_KEY) ?? ofBrowser ?? SOURCE_LANGUAGE;
}

/** Show the page in the language that is wanted now. If its catalogue cannot be loaded, the page stays and says so. */
async function show(): Promise<void> {
  if (catalogues === null) return;
  const language = wanted();
  if (language !== shownLanguage()) {
    const load = catalogues[language];
    try {
      const catalogue = load ? await load() : {};
      // Another may have been chosen while this one was loaded.
      if (wanted() === language) {
        showLanguage(language, catalogue);
        missing = null;
      }
    } catch {
      // No connection: the page is readable as it is. The choice stays, so the next choice or load tries again.
      if (wanted() === language && missing !== language) {
        missing = language;
        tellMissing(language);
      }
    }
  }
  document.documentElement.lang = shownLanguage();
}

/** Begin in the language that is wanted, and offer those with a catalogue. `onMissing` tells of one that cannot be loaded. */
export function startLanguage(offered: Catalogues, onMissing: (language: Language) => void): Promise<void> {
  catalogues = offered;
  tellMissing = onMissing;
  return show();
}

/** Show the page in a language from now on and after a reload; whoever is logged in has it in the account too. */
export function chooseLanguage(language: string | null): Promise<void> {
  if (language === null || !(language in LANGUAGES)) return Promise.resolve();
  keep(() => localStorage, CHOSEN_KEY, language);
  if (kept(ACCOUNT_KEY) !== null) keep(() => localStorage, ACCOUNT_KEY, language);
  tellAccount?.(language as Language);
  missing = null;
  return show();
}

/** What the account says, kept so that a reload begins with it. A language that the pages do not have is none. */
export function setAccountLanguage(tag: string | null): Promise<void> {
  keep(() => localStorage, ACCOUNT_KEY, languageOf(tag));
  return show();
}

/** Who keeps a choice with the account; null while nobody is logged in. */
export function onLanguageChoice(tell: ((language: Language) => void) | null): void {
  tellAccount = tell;
}
