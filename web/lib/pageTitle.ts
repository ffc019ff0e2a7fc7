/** What the window is called, and where the keyboard begins on a page. */
import { type RefObject, useEffect, useRef } from "react";

/** The application's name, as its index.html has it. */
const application = () =>
  document.querySelector<HTMLMetaElement>("meta[name=application-name]")?.content ?? "OpenSpot";

/** Call the window after the page. */
export function useWindowTitle(page: string): void {
  useEffect(() => {
    document.title = `${page} · ${application()}`;
  }, [page]);
}

/**
 * The heading of a page: it takes the focus when the page opens, so that keyboard and screen readers begin there. A field
 * of the page that has asked for the focus keeps it.
 */
export function usePageHeading(page: string): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  useWindowTitle(page);
  useEffect(() => {
    const active = document.activeElement;
    const isTaken = active instanceof HTMLInputElement && heading.current?.closest("main")?.contains(active);
    if (!isTaken) heading.current?.focus({ preventScroll: true });
  }, [page]);
  return heading;
}
