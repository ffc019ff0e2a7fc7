/** The favourite markets and other watchlists of the account; without a session favourites are kept in this browser. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { toastProblem } from "#lib/components/toasts.tsx";
import { texts } from "#lib/language.ts";
import { createStore, keep, readKept, useStore } from "#lib/store.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explain, type OwnWords } from "../api/messages.ts";
import { useSession } from "../api/session.ts";
import { type Change, changed, FAVOURITES, movable, readNames, symbolsIn } from "./watchlist.ts";

type Watchlist = Schemas["Watchlist"];

export const WATCHLISTS = ["watchlists"] as const;
/** Changes come one after the other: to add and to remove the same market must not overtake each other. */
export const CHANGES = { id: "watchlists" };
const KEY = "openspot.trade.favourites";
const storage = () => localStorage;

export const WORDS: OwnWords = texts({
  codes: {
    WATCHLIST_FULL: ["The watchlist is full", "Take out a market that you do not need any more."],
    TOO_MANY_WATCHLISTS: [
      "You have as many watchlists as you may have",
      "Delete one of them on the page Markets. Programs of yours may have made some, too.",
    ],
    WATCHLIST_EXISTS: ["There is such a watchlist already", "Choose another name."],
    WATCHLIST_NOT_FOUND: ["The watchlist is gone", "Another window or a program of yours has deleted it."],
  },
  reasons: [],
});

const kept = createStore<readonly string[]>(readNames(readKept(storage, KEY)));

function keepHere(symbols: readonly string[]): void {
  kept.set(symbols);
  keep(storage, KEY, symbols.length > 0 ? symbols.join(" ") : null);
}

/** Whose account was asked to take what this browser keeps: once a page, so that a refusal is not repeated without end. */
let movedFor: string | null = null;

interface SentChange extends Change {
  /** The list that changes. */
  name: string;
  /** It brings to the account what the browser keeps, which then forgets it. */
  isMove: boolean;
}

export interface Favourites {
  symbols: readonly string[];
  /** Add a market to the favourites, or take it out. */
  toggle: (symbol: string) => void;
}

/** The watchlists of whoever is logged in. */
export function useWatchlists() {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: WATCHLISTS,
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/watchlists", { signal })),
    enabled: session !== null,
  });
}

/**
 * The favourites, or with a session the watchlist of another `name`. Favourites that this browser keeps go to the account of whoever is logged in, once `known`, the symbols of
 * all markets, are there; those of markets that are gone are forgotten.
 */
export function useFavourites(known: readonly string[] | undefined, name = FAVOURITES): Favourites {
  const { rest } = useExchange();
  const { session } = useSession();
  const client = useQueryClient();
  const here = useStore(kept);
  const lists = useWatchlists();
  const { mutate } = useMutation({
    mutationKey: WATCHLISTS,
    scope: CHANGES,
    mutationFn: (body: SentChange) =>
      returned(
        rest.PATCH("/api/v1/watchlists/{watchlistName}", {
          params: { path: { watchlistName: body.name } },
          body: { add: [...body.add], remove: [...body.remove] },
        }),
      ),
    onMutate: async (change) => {
      await client.cancelQueries({ queryKey: WATCHLISTS });
      client.setQueryData<Watchlist[]>(WATCHLISTS, (before) => changed(before, change.name, change));
    },
    onSuccess: (_, { isMove, add }) => {
      if (!isMove) return;
      keepHere(kept.get().filter((symbol) => !add.includes(symbol)));
      // What is chosen after a logout goes along with the next login.
      movedFor = null;
    },
    onError: (error) => toastProblem(explain(error, WORDS)),
    onSettled: () => {
      if (client.isMutating({ mutationKey: WATCHLISTS }) === 1)
        void client.invalidateQueries({ queryKey: WATCHLISTS });
    },
  });
  const userId = session?.userId ?? null;
  const isReady = userId !== null && lists.isSuccess && known !== undefined && here.length > 0;
  useEffect(() => {
    if (!isReady || movedFor === userId) return;
    movedFor = userId;
    const add = movable(here, known);
    keepHere(add);
    if (add.length > 0) mutate({ name: FAVOURITES, add, remove: [], isMove: true });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- it is done once, when everything for it is there
  }, [isReady, userId]);

  if (session === null)
    return {
      symbols: here,
      toggle: (symbol) =>
        keepHere(here.includes(symbol) ? here.filter((name) => name !== symbol) : [...here, symbol]),
    };
  const symbols = symbolsIn(lists.data, name);
  return {
    symbols,
    toggle: (symbol) =>
      mutate(
        symbols.includes(symbol)
          ? { name, add: [], remove: [symbol], isMove: false }
          : { name, add: [symbol], remove: [], isMove: false },
      ),
  };
}
