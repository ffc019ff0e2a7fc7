/** The name of a language by its tag. A user may have chosen a tag that has the form of one and names none. */
export function languageName(tag: string | null): string {
  if (tag === null) return "not chosen";
  try {
    return new Intl.DisplayNames("en", { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
