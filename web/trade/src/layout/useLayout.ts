/** The layout of the trading screen, and its editing. */
import { useCallback, useState } from "react";
import { toastFailed } from "#lib/components/toasts.tsx";
import { explain } from "../api/messages.ts";
import { keepLayout, useKeptLayout, useWidthClass } from "./kept.ts";
import type { Layout, WidthClass } from "./model.ts";

/** What is being edited: nothing of it is kept before the reader says so. */
export interface Edited {
  width: WidthClass;
  layout: Layout;
}

export interface ScreenLayout {
  /** The layout to show; null: the standard, whose places the style sheet of the page has. */
  layout: Layout | null;
  width: WidthClass;
  /** Whether it is being edited. */
  isEditing: boolean;
  begin: () => void;
  /** Try another layout. */
  change: (layout: Layout) => void;
  /** Keep another layout at once, outside editing. */
  set: (layout: Layout) => void;
  /** End editing, and keep what was edited. */
  finish: () => void;
  /** End editing, and leave the screen as it was. */
  cancel: () => void;
  /** End editing, and return to the standard. */
  reset: () => void;
}

export function useLayout(): ScreenLayout {
  const width = useWidthClass();
  const kept = useKeptLayout(width);
  const [edited, setEdited] = useState<Edited | null>(null);
  // A window that gets another class has another layout: what was edited stays with its own.
  const current = edited?.width === width ? edited : null;
  const begin = useCallback(
    () =>
      void import("./changes.ts").then(
        ({ STANDARD }) => setEdited({ width, layout: kept ?? STANDARD[width] }),
        (error: unknown) => {
          const { title, detail, advice } = explain(error);
          toastFailed(title, `${detail} ${advice}`);
        },
      ),
    [width, kept],
  );
  const finish = useCallback(() => {
    if (current) keepLayout(width, current.layout);
    setEdited(null);
  }, [width, current]);
  return {
    layout: current?.layout ?? kept,
    width,
    isEditing: current !== null,
    begin,
    change: (layout) => setEdited({ width, layout }),
    set: (layout) => keepLayout(width, layout),
    finish,
    cancel: () => setEdited(null),
    reset: () => {
      keepLayout(width, null);
      setEdited(null);
    },
  };
}
