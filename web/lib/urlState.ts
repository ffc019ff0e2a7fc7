/** Filters, pages and orders of lists live in the address, so that a view can be kept, shared and gone back to. */
import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";
import { parseCount } from "./counts.ts";
import { type Page, PAGE_SIZE_DEFAULT, PAGE_SIZES, type Sort } from "./paging.ts";

export type Changes = Readonly<Record<string, string | null>>;

/** `parameters` with changes; an empty text or null removes a parameter. A change of a filter begins at page one. */
export function withChanges(parameters: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(parameters);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  if (!("page" in changes)) next.delete("page");
  return next;
}

/** The page that the address asks for; what it asks for wrongly is the default. */
export function readPage(parameters: URLSearchParams): Page {
  const number = parseCount(parameters.get("page")) ?? 1;
  const size = PAGE_SIZES.find((known) => known === parseCount(parameters.get("size"))) ?? PAGE_SIZE_DEFAULT;
  return { index: Math.max(number, 1) - 1, size };
}

/** The order that the address asks for: `sort=total`, or `sort=-total` for descending. */
export function readSort(parameters: URLSearchParams): Sort | null {
  const text = parameters.get("sort");
  if (!text) return null;
  return text.startsWith("-")
    ? { column: text.slice(1), descending: true }
    : { column: text, descending: false };
}

/** The order after a click on a column's head: ascending, then descending, then the list's own. */
export function nextSort(sort: Sort | null, column: string): string | null {
  if (sort?.column !== column) return column;
  return sort.descending ? null : `-${column}`;
}

export interface UrlState {
  parameter: (name: string) => string;
  change: (changes: Changes) => void;
  page: Page;
  setPage: (page: Page) => void;
  sort: Sort | null;
  toggleSort: (column: string) => void;
}

/** The state of a list in the address. */
export function useUrlState(): UrlState {
  const [parameters, setParameters] = useSearchParams();
  const change = useCallback(
    (changes: Changes) => setParameters((before) => withChanges(before, changes), { replace: true }),
    [setParameters],
  );
  return useMemo(() => {
    const sort = readSort(parameters);
    return {
      parameter: (name) => parameters.get(name) ?? "",
      change,
      page: readPage(parameters),
      setPage: ({ index, size }) =>
        change({
          page: index === 0 ? null : String(index + 1),
          size: size === PAGE_SIZE_DEFAULT ? null : String(size),
        }),
      sort,
      toggleSort: (column) => change({ sort: nextSort(sort, column) }),
    };
  }, [parameters, change]);
}

/** A complete list in the order and on the page that the address asks for. */
export function arrange<Row>(
  rows: readonly Row[],
  compare: ((a: Row, b: Row) => number) | undefined,
  descending: boolean,
  page: Page,
): Row[] {
  const sorted = compare ? [...rows].sort(descending ? (a, b) => compare(b, a) : compare) : rows;
  return sorted.slice(page.index * page.size, (page.index + 1) * page.size);
}
