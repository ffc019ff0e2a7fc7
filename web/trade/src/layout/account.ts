/** Keeps layouts at the account, and brings there those of this browser. Loaded when there is something to keep. */
import type { QueryClient } from "@tanstack/react-query";
import { toastFailed, toastProblem } from "#lib/components/toasts.tsx";
import { t } from "#lib/language.ts";
import { type Client, returned, type Schemas } from "../api/client.ts";
import { RefusedError } from "../api/errors.ts";
import { explain } from "../api/messages.ts";
import { accountLayouts, keepHere, keptHere } from "./kept.ts";
import { type Layout, panelOf, type WidthClass } from "./model.ts";

type Kept = Schemas["ScreenLayout"];

export interface Outcome {
  /** If not, the reader has been told. */
  isKept: boolean;
  /** What the next change would replace. */
  version: number;
}

export const WIDTHS: readonly WidthClass[] = ["tablet", "laptop", "wide"];

/** Ends when nothing is being kept: a change begins with the version that the one before it has made. */
let turn: Promise<unknown> = Promise.resolve();
/** How often another device was first: what was asked for before that is not kept after it. */
let conflicts = 0;

function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const result = turn.then(work);
  turn = result.catch(() => undefined);
  return result;
}

/**
 * Keep a layout at the account; without panels the standard. `version` is what it replaces, null: what is known by then.
 * If another device was first, its layout stays until the reader has heard of it: the next try may replace it.
 */
export function keepAtAccount(
  rest: Client,
  client: QueryClient,
  width: WidthClass,
  layout: Layout,
  version: number | null,
): Promise<Outcome> {
  const before = conflicts;
  show(rest, client, width, layout);
  return inTurn(async () => {
    let replaced = version ?? 0;
    try {
      if (version === null) replaced = await versionOf(rest, client, width);
      if (before !== conflicts) return { isKept: false, version: replaced };
      await put(rest, client, width, layout, replaced);
      return { isKept: true, version: replaced + 1 };
    } catch (error) {
      const isLate = isChangedElsewhere(error);
      if (isLate) {
        conflicts += 1;
        toastFailed(
          t("Another device has changed the layout"),
          t("Keep yours once more to replace that one, or cancel to see it."),
        );
      } else {
        toastProblem(explain(error));
      }
      await client.refetchQueries({ queryKey: accountLayouts(rest).queryKey });
      const found = client.getQueryData(accountLayouts(rest).queryKey)?.find((one) => one.width === width);
      return { isKept: false, version: isLate && found ? found.version : replaced };
    }
  });
}

/** Bring the layouts of this browser to an account that has none for their width; the browser then forgets them. */
export function bringToAccount(rest: Client, client: QueryClient): Promise<void> {
  return inTurn(async () => {
    for (const width of WIDTHS) {
      const layout = keptHere(width);
      if (layout === null) continue;
      try {
        if ((await known(rest, client)).some((kept) => kept.width === width)) continue;
        await put(rest, client, width, layout, 0);
        keepHere(width, null);
      } catch (error) {
        // Nothing is lost: it stays in this browser, and the next visit tries again.
        if (!isChangedElsewhere(error)) return;
        await client.refetchQueries({ queryKey: accountLayouts(rest).queryKey });
      }
    }
  });
}

const isChangedElsewhere = (error: unknown) =>
  error instanceof RefusedError && error.code === "LAYOUT_CHANGED";

const known = (rest: Client, client: QueryClient) =>
  client.query({ ...accountLayouts(rest), staleTime: Infinity });

const versionOf = async (rest: Client, client: QueryClient, width: WidthClass) =>
  (await known(rest, client)).find((kept) => kept.width === width)?.version ?? 0;

const panelsOf = (layout: Layout) => layout.map((panel) => ({ chart: null, ...panelOf(panel) }));

/** The screen does not wait for the account. */
function show(rest: Client, client: QueryClient, width: WidthClass, layout: Layout): void {
  client.setQueryData<Kept[]>(accountLayouts(rest).queryKey, (before) =>
    before?.map((one) => (one.width === width ? { ...one, panels: panelsOf(layout) } : one)),
  );
}

async function put(
  rest: Client,
  client: QueryClient,
  width: WidthClass,
  layout: Layout,
  version: number,
): Promise<void> {
  const { queryKey } = accountLayouts(rest);
  const body = { version, panels: panelsOf(layout) };
  const kept = await returned(rest.PUT("/api/v1/layouts/{width}", { params: { path: { width } }, body }));
  await client.cancelQueries({ queryKey });
  client.setQueryData<Kept[]>(queryKey, (before = []) => {
    // What was chosen meanwhile is shown already.
    const panels = before.find((one) => one.width === width)?.panels ?? kept.panels;
    return [...before.filter((one) => one.width !== width), { ...kept, panels }];
  });
}
