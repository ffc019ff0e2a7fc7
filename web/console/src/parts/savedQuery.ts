/** Where in a list somebody is: a page of it, and the entry that an older page begins after. */
const PLACES = ["page", "after"];

/** The filters of a list's address alone: a view is opened at the list's beginning. */
export function withoutPlace(query: string): string {
  const parameters = new URLSearchParams(query);
  for (const place of PLACES) parameters.delete(place);
  return parameters.toString();
}
