/** Keys that work anywhere on a page, except while somebody types. All of them are registered here. */
import { useEffect, useRef } from "react";

export interface Shortcut {
  /** One key ("?"), or two in succession ("g o"). */
  keys: string;
  title: string;
  run: () => void;
}

const SUCCESSION_MS = 1200;
/** Fields that take letters: a choice of buttons or of a list keeps the focus after a click, but takes none. */
const FIELD = "input:not([type=radio], [type=checkbox], [type=button], [type=submit], [readonly])";
const TYPING = `${FIELD}, textarea, select, [contenteditable=true], [role=textbox], [role=dialog], [role=menu]`;

/** The shortcut that a key completes, given the key before it. A pair goes before a single key. */
export function findShortcut<Known extends { keys: string }>(
  shortcuts: readonly Known[],
  before: string | null,
  key: string,
): Known | undefined {
  const pair = before === null ? undefined : shortcuts.find(({ keys }) => keys === `${before} ${key}`);
  return pair ?? shortcuts.find(({ keys }) => keys === key);
}

/** Let these shortcuts work while the component is shown. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const current = useRef(shortcuts);
  useEffect(() => {
    current.current = shortcuts;
  });
  useEffect(() => {
    let before: { key: string; at: number } | null = null;
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.closest(TYPING) !== null;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const recent = before && event.timeStamp - before.at <= SUCCESSION_MS ? before.key : null;
      before = { key: event.key, at: event.timeStamp };
      const found = findShortcut(current.current, recent, event.key);
      if (!found) return;
      before = null;
      event.preventDefault();
      found.run();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
