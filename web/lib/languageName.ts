/** The name of a language by its tag, in the words of `locale`. A tag that has the form of one and names none is shown as it is. */
export function languageName(tag: string, locale: string): string {
  try {
    return new Intl.DisplayNames(locale, { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
