/** The countries of ISO 3166-1, by their names in the language of the page. */
import { pageLocale } from "#lib/language.ts";

/** Regions that Unicode knows beside the countries: unions, parts of countries, private and test codes. */
const NO_COUNTRIES: ReadonlySet<string> = new Set("AC CP CQ DG EA EU EZ IC QO TA UN XA XB XK ZZ".split(" "));
const LETTERS = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));

export interface Country {
  value: string;
  label: string;
}

/** All countries, in the order of their names. */
export function countries(): Country[] {
  const names = new Intl.DisplayNames([pageLocale()], { type: "region", fallback: "none" });
  const codes = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
  return codes
    .flatMap((value) => {
      const label = names.of(value);
      // A code that is no longer used stands for another: "DD" for "DE".
      const isCurrent = new Intl.Locale(`und-${value}`).region === value;
      return label !== undefined && isCurrent && !NO_COUNTRIES.has(value) ? [{ value, label }] : [];
    })
    .sort((a, b) => a.label.localeCompare(b.label, pageLocale()));
}
