/** Which rows of a list a page shows, and in which order. */

export const PAGE_SIZES = [25, 50, 100, 200] as const;
export const PAGE_SIZE_DEFAULT = 50;

export interface Page {
  /** Place of the page, from 0. */
  index: number;
  size: number;
}

/** The column that a list is sorted by. */
export interface Sort {
  column: string;
  descending: boolean;
}

/** The rows of a page in words: "51–100 of 1,204", or "0 of 0". */
export function pageRange(page: Page, total: number): { first: number; last: number } {
  const first = Math.min(page.index * page.size + 1, total);
  return { first, last: Math.min((page.index + 1) * page.size, total) };
}

/** How many pages there are, at least one. */
export function pageCount(total: number, size: number): number {
  return Math.max(1, Math.ceil(total / size));
}

/** `page`, or the last one if the list has become shorter. */
export function clampPage(page: Page, total: number): Page {
  return { ...page, index: Math.min(page.index, pageCount(total, page.size) - 1) };
}
