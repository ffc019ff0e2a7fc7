/** Where in a list somebody is: a page of it, and the entry that an older page begins after. */
const PLACES = ["page", "after"];
/** What a page has of the one that it shows: a view is opened on the page of another, too. */
const OWN: Readonly<Record<string, readonly string[]>> = { user: ["account"] };

/** The filters of a list's address alone: a view is opened at the list's beginning. */
export function withoutPlace(query: string, page: string): string {
  const parameters = new URLSearchParams(query);
  for (const place of [...PLACES, ...(OWN[page] ?? [])]) parameters.delete(place);
  return parameters.toString();
}
