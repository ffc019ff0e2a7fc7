/** The layout of the trading screen, and its editing. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { tellMissing } from "#lib/components/late.tsx";
import { useExchange } from "../api/client.ts";
import { useSession } from "../api/session.ts";
import { keepLayout } from "./keeping.ts";
import { hasKeptHere, useKeptLayout, useWidthClass } from "./kept.ts";
import type { Layout, WidthClass } from "./model.ts";

/** What is being edited: nothing of it is kept before the reader says so. */
export interface Edited {
  width: WidthClass;
  layout: Layout;
  /** Of what was kept when editing began: if there is another one by the end, it is not replaced unseen. */
  version: number;
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
  const { rest } = useExchange();
  const client = useQueryClient();
  const { session } = useSession();
  const userId = session?.userId;
  const width = useWidthClass();
  const { layout: kept, version } = useKeptLayout(width);
  const [edited, setEdited] = useState<Edited | null>(null);
  // A window that gets another class has another layout: what was edited stays with its own.
  const current = edited?.width === width ? edited : null;
  useEffect(() => {
    if (userId !== undefined && hasKeptHere())
      void import("./account.ts").then(
        ({ bringToAccount }) => bringToAccount(rest, client),
        // The next visit tries again.
        () => undefined,
      );
  }, [userId, rest, client]);
  const begin = useCallback(
    () =>
      void import("./changes.ts").then(
        ({ STANDARD }) => setEdited({ width, layout: kept ?? STANDARD[width], version }),
        tellMissing,
      ),
    [width, kept, version],
  );
  /** Keep it, and end editing then, unless the reader has gone on. */
  const keepEdited = useCallback(
    (next: Layout | null) =>
      current &&
      void keepLayout(rest, client, width, next, current.version).then(
        (outcome) =>
          setEdited((now) => {
            if (outcome.isKept) return now === current ? null : now;
            return now?.width === width ? { ...now, version: outcome.version } : now;
          }),
        tellMissing,
      ),
    [rest, client, width, current],
  );
  const finish = useCallback(() => {
    if (current) keepEdited(current.layout);
  }, [current, keepEdited]);
  return {
    layout: current?.layout ?? kept,
    width,
    isEditing: current !== null,
    begin,
    change: (layout) => setEdited({ width, layout, version: current?.version ?? version }),
    set: (layout) => void keepLayout(rest, client, width, layout, null).catch(tellMissing),
    finish,
    cancel: () => setEdited(null),
    reset: () => keepEdited(null),
  };
}
