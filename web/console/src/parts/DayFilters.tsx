import type { UrlState } from "#lib/urlState.ts";
import { daysOf } from "../people/span.ts";
import { DayFilter } from "./filters.tsx";

/** The changes of an address that clear the days. */
export const NO_DAYS = { from: null, to: null } as const;

/** The filters of a list for its first and its last day, which live in the address. */
export function DayFilters({ url }: { url: UrlState }) {
  const { from, to } = daysOf(url.parameter);
  return (
    <>
      <DayFilter label="From" value={from} onChange={(day) => url.change({ from: day })} />
      <DayFilter label="To" value={to} onChange={(day) => url.change({ to: day })} />
    </>
  );
}
