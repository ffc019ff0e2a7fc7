/** The drawings of a market: at the account, or without a session in this browser; and what was done last. */
import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { toastFailed, toastProblem } from "#lib/components/toasts.tsx";
import { t, texts } from "#lib/language.ts";
import { createStore, useStore } from "#lib/store.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explain, type OwnWords } from "../api/messages.ts";
import { useSession } from "../api/session.ts";
import {
  type Change,
  changed,
  type Drawing,
  DRAWINGS_MAX,
  inverse,
  partsOf,
  readDrawings,
} from "./drawing.ts";
import { keepText, newestText } from "./kept.ts";
import { DRAWINGS, useAccountDrawings, useKeptText } from "./queries.ts";

type Answer = Schemas["Drawings"];

const STEPS_MAX = 100;
const NONE: readonly Drawing[] = [];
const NO_STEPS: Pick<Steps, "done" | "undone"> = { done: [], undone: [] };

const WORDS: OwnWords = texts({
  codes: {
    TOO_MANY_DRAWINGS_ON_MARKET: [
      "There are as many drawings as a market may have",
      "Delete one that you do not need any more.",
    ],
    TOO_MANY_DRAWINGS: ["You have as many drawings as you may have", "Delete some on other markets."],
  },
  reasons: [],
});

/** What takes back each step, newest last, and what repeats those that were taken back. */
interface Steps {
  /** Whose they are, and on which market: those of others are forgotten. */
  owner: string;
  done: readonly Change[];
  undone: readonly Change[];
}

const steps = createStore<Steps>({ owner: "", done: [], undone: [] });

/** Whose account was asked to take what this browser keeps of which market: once a page. */
const moved = new Set<string>();

export interface DrawingList {
  drawings: readonly Drawing[];
  /** Returns false if there would be too many: then nothing is changed. */
  apply: (change: Change) => boolean;
  canUndo: boolean;
  canRedo: boolean;
  /** Take back the last step. */
  undo: () => void;
  /** Repeat what was taken back last. */
  redo: () => void;
}

interface Sent {
  change: Change;
  /** It brings to the account what the browser keeps, which then forgets it. */
  isMove: boolean;
}

export function useDrawings(symbol: string): DrawingList {
  const { rest } = useExchange();
  const { session } = useSession();
  const client = useQueryClient();
  const key = useMemo(() => [DRAWINGS, symbol], [symbol]);
  const account = useAccountDrawings(symbol);
  const text = useKeptText(symbol);
  const here = useMemo(() => readDrawings(text), [text]);
  const { mutate } = useMutation({
    mutationKey: key,
    // One after the other: two changes of one drawing must not overtake each other.
    scope: { id: `${DRAWINGS} ${symbol}` },
    mutationFn: async ({ change }: Sent) => {
      for (const { put, remove } of partsOf(change)) {
        await returned(
          rest.PATCH("/api/v1/drawings/{symbol}", {
            params: { path: { symbol } },
            body: { put: put.map((one) => ({ ...one, points: [...one.points] })), remove: [...remove] },
          }),
        );
      }
    },
    // What is being read was true before.
    onMutate: () => client.cancelQueries({ queryKey: key }),
    onSuccess: (_, { isMove, change }) => {
      if (!isMove) return;
      const brought = new Set(change.put.map(({ id }) => id));
      keepHere(
        symbol,
        readDrawings(newestText(symbol)).filter(({ id }) => !brought.has(id)),
      );
      moved.clear();
    },
    onError: (error) => toastProblem(explain(error, WORDS)),
    onSettled: () => {
      if (client.isMutating({ mutationKey: key }) === 1) void client.invalidateQueries({ queryKey: key });
    },
  });

  const userId = session?.userId ?? null;
  const isReady = userId !== null && account.isSuccess && here.length > 0;
  useEffect(() => {
    const move = `${userId ?? ""} ${symbol}`;
    if (!isReady || moved.has(move)) return;
    moved.add(move);
    const change = { put: here, remove: [] };
    showAtOnce(client, symbol, change);
    mutate({ change, isMove: true });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- it is done once, when everything for it is there
  }, [isReady, userId, symbol]);

  const owner = `${userId ?? ""} ${symbol}`;
  const known = useStore(steps);
  const { done, undone } = known.owner === owner ? known : NO_STEPS;
  const drawings = userId === null ? here : (account.data?.drawings ?? NONE);

  const canUndo = done.length > 0;
  const canRedo = undone.length > 0;

  return useMemo(() => {
    const now = () =>
      userId === null
        ? readDrawings(newestText(symbol))
        : (client.getQueryData<Answer>(key)?.drawings ?? NONE);
    /** The change that takes this one back; null if it is refused. */
    const send = (change: Change): Change | null => {
      const before = now();
      const after = changed(before, change);
      if (after.length > Math.max(before.length, DRAWINGS_MAX)) {
        toastFailed(
          t("There are as many drawings as a market may have"),
          t("Delete one that you do not need any more."),
        );
        return null;
      }
      if (userId === null) keepHere(symbol, after);
      else {
        showAtOnce(client, symbol, change);
        mutate({ change, isMove: false });
      }
      return inverse(before, change);
    };
    const stepsNow = () => (steps.get().owner === owner ? steps.get() : NO_STEPS);
    return {
      drawings,
      canUndo,
      canRedo,
      apply: (change) => {
        const back = send(change);
        if (back) steps.set({ owner, done: [...stepsNow().done, back].slice(-STEPS_MAX), undone: [] });
        return back !== null;
      },
      undo: () => {
        const before = stepsNow();
        const last = before.done.at(-1);
        const repeat = last && send(last);
        if (repeat) steps.set({ owner, done: before.done.slice(0, -1), undone: [...before.undone, repeat] });
      },
      redo: () => {
        const before = stepsNow();
        const next = before.undone.at(-1);
        const back = next && send(next);
        if (back) steps.set({ owner, done: [...before.done, back], undone: before.undone.slice(0, -1) });
      },
    };
  }, [drawings, canUndo, canRedo, owner, userId, symbol, client, key, mutate]);
}

/** The drawings as the account will have them: the next change begins with them. */
function showAtOnce(client: QueryClient, symbol: string, change: Change): void {
  client.setQueryData<Answer>([DRAWINGS, symbol], (before) => ({
    symbol,
    drawings: changed(before?.drawings ?? [], change).map((one) => ({ ...one, points: [...one.points] })),
  }));
}

function keepHere(symbol: string, drawings: readonly Drawing[]): void {
  keepText(symbol, drawings.length > 0 ? JSON.stringify(drawings) : null);
}
