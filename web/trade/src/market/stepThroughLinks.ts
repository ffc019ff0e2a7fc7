/** The arrow keys in a list of markets: down from the search to the first link, and from link to link. */
import type { KeyboardEvent } from "react";

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

export function stepThroughLinks(event: KeyboardEvent, list: HTMLElement | null): void {
  const by = STEPS[event.key];
  // Elsewhere the keys have another meaning: in a choice, or where something is scrolled.
  const { target } = event;
  const isSearch = target instanceof HTMLInputElement && target.type === "text";
  const isLink = target instanceof HTMLElement && target.matches("a[data-market]");
  if (by === undefined || !(isSearch || isLink)) return;
  const links = [...(list?.querySelectorAll<HTMLElement>("a[data-market]") ?? [])];
  const at = links.findIndex((link) => link === document.activeElement);
  event.preventDefault();
  links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}
