/** The stream of the page, and what React components follow of it. */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import { createStore, type Store, useStore } from "#lib/store.ts";
import type { Link, Stream } from "../stream/connection.ts";
import type { Feed } from "../stream/feeds.ts";
import type { Schemas, Slice } from "./client.ts";
import type { Order } from "./orderKinds.ts";
import { currentSession, onSessionChange } from "./session.ts";

export const StreamContext = createContext<Stream | null>(null);

export function useStream(): Stream {
  const stream = useContext(StreamContext);
  if (!stream) throw new Error("no stream around this component");
  return stream;
}

export function useLink(): Link {
  return useStore(useStream().link);
}

/** A feed that lives as long as the component; `key` names what it follows. */
export function useFeed<Value>(make: () => Feed<Value>, key: string, initial: Value): Value {
  const holder = useMemo(() => createStore<Store<Value> | null>(null), []);
  useEffect(() => {
    const feed = make();
    holder.set(feed.store);
    return () => {
      holder.set(null);
      feed.stop();
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `key` says when another feed is wanted
  }, [key, holder]);
  const current = useStore(holder);
  return useSyncExternalStore(
    (listener) => current?.subscribe(listener) ?? (() => undefined),
    () => current?.get() ?? initial,
  );
}

type Ticker = Schemas["Ticker"];

export const OPEN_ORDERS = ["orders", "open"] as const;
export const BALANCES = ["balances"] as const;
export const TICKERS = ["tickers"] as const;
export const TOLD = ["told"] as const;

const OPEN_STATUSES: ReadonlySet<string> = new Set(["pending", "open", "partially_filled"]);

const isNewer = (one: Order, other: Order) => Date.parse(one.updatedAt) > Date.parse(other.updatedAt);

/** The newest open orders, of one market or of all. */
export interface OpenOrders {
  orders: readonly Order[];
  /** Whether there are older ones, which the list does not reach. */
  hasOlder: boolean;
}

/** The open orders after a push. Of two records of an order the newer one counts. */
export function withOrder(list: OpenOrders, pushed: Order): OpenOrders {
  const { orders, hasOlder } = list;
  const known = orders.find(({ orderId }) => orderId === pushed.orderId);
  if (known && isNewer(known, pushed)) return list;
  const others = orders.filter(({ orderId }) => orderId !== pushed.orderId);
  if (!OPEN_STATUSES.has(pushed.status)) return { orders: others, hasOlder };
  const last = orders.at(-1);
  // A change of an order below the end of the list does not make it one of the newest.
  if (!known && hasOlder && last && Date.parse(pushed.createdAt) < Date.parse(last.createdAt)) return list;
  const at = known ? orders.indexOf(known) : 0;
  return { orders: [...others.slice(0, at), pushed, ...others.slice(at)], hasOlder };
}

/** The key of the open orders of a market, or without one of those of all. */
export const openOrdersOf = (symbol?: string) => [...OPEN_ORDERS, symbol];

const isOf = (symbol: unknown, order: Order) => symbol === undefined || symbol === order.symbol;

const NOTED_MAX = 500;
/** The newest records of orders, each with how many had come when it came. */
const noted = new Map<string, { order: Order; count: number }>();
let notedCount = 0;

const hasEnded = ({ status }: Order) => !OPEN_STATUSES.has(status);

/**
 * Take a record of an order into the lists of open ones. An order that has ended stays ended: the response to its
 * request may arrive after the event of its end.
 */
export function noteOrder(client: QueryClient, order: Order): void {
  const known = noted.get(order.orderId)?.order;
  if (known && !hasEnded(order) && (hasEnded(known) || isNewer(known, order))) return;
  // It is the newest by its place, too.
  noted.delete(order.orderId);
  noted.set(order.orderId, { order, count: ++notedCount });
  const [oldest] = noted.keys();
  if (noted.size > NOTED_MAX && oldest !== undefined) noted.delete(oldest);
  for (const [queryKey, list] of client.getQueriesData<OpenOrders>({ queryKey: OPEN_ORDERS }))
    if (list && isOf(queryKey[2], order)) client.setQueryData(queryKey, withOrder(list, order));
}

/**
 * Reads the open orders of a market, or of all without one. Records that come meanwhile count, since what is read may be
 * from before them.
 */
export async function readOpenOrders(
  symbol: string | undefined,
  read: () => Promise<Slice<Order>>,
): Promise<OpenOrders> {
  const before = notedCount;
  const { rows, next } = await read();
  let list: OpenOrders = { orders: rows, hasOlder: next !== null };
  for (const { order, count } of noted.values()) {
    const isKnown = list.orders.some(({ orderId }) => orderId === order.orderId);
    if (isKnown || (count > before && isOf(symbol, order))) list = withOrder(list, order);
  }
  return list;
}

/** Tickers after a push. */
export function withTicker(tickers: readonly Ticker[] | undefined, pushed: Ticker): Ticker[] | undefined {
  if (!tickers) return undefined;
  const others = tickers.some(({ symbol }) => symbol === pushed.symbol);
  return others
    ? tickers.map((known) => (known.symbol === pushed.symbol ? pushed : known))
    : [...tickers, pushed];
}

const HISTORY_DELAY_MS = 600;
const LATE_MS = 4_000;
const BALANCES_DELAY_MS = 150;
/** By then the page's own first reading has come, which another one would interrupt. */
const ACCOUNT_DELAY_MS = 1_000;

/** Calls `run` once, `delay` after the first of several requests. */
function gathered(run: () => void, delay: number): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  return () => {
    timer ??= setTimeout(() => {
      timer = null;
      run();
    }, delay);
  };
}

/** Keep the user's orders and balances of the query cache live, and read them again after each new connection. */
export function followAccount(stream: Stream, client: QueryClient): () => void {
  const identify = () => stream.identify(currentSession()?.accessToken ?? null);
  identify();
  const invalidateHistory = () => {
    void client.invalidateQueries({ queryKey: ["orders", "history"] });
    void client.invalidateQueries({ queryKey: ["orders", "fills"] });
  };
  // Rows are written a moment after the event, and on a busy machine later.
  const readHistoryAgain = gathered(() => {
    invalidateHistory();
    // The position service has taken the fills by then; it sums results of all time, so it is not asked sooner.
    void client.invalidateQueries({ queryKey: ["positions", "spot"] });
  }, LATE_MS);
  const readHistory = gathered(() => {
    invalidateHistory();
    readHistoryAgain();
  }, HISTORY_DELAY_MS);
  const readBalances = gathered(
    () => void client.invalidateQueries({ queryKey: BALANCES }),
    BALANCES_DELAY_MS,
  );
  const invalidateFunds = () => {
    for (const queryKey of [["funds"], BALANCES]) void client.invalidateQueries({ queryKey });
  };
  // What a withdrawal held is free at the engine a moment after the news of its end, and no event follows.
  const readFundsAgain = gathered(invalidateFunds, LATE_MS);
  let { epoch, spokenEpoch } = stream.link.get();
  const readAccount = gathered(() => {
    for (const queryKey of [["orders"], BALANCES]) void client.invalidateQueries({ queryKey });
  }, ACCOUNT_DELAY_MS);
  const leave = [
    onSessionChange(identify),
    stream.follow("orders", {
      onPush: ({ data }) => {
        const pushed = data as Order;
        noteOrder(client, pushed);
        if (!OPEN_STATUSES.has(pushed.status) || pushed.status === "partially_filled") readHistory();
        // Funds are held and released at once by the engine; the ledger's event comes for fills alone.
        readBalances();
      },
    }),
    stream.follow("balances", { onPush: () => readBalances() }),
    stream.follow("notifications", {
      onPush: ({ data }) => {
        const userId = currentSession()?.userId;
        if (userId !== undefined)
          void import("./keptNotices.ts").then(
            ({ tell }) => tell(userId, data),
            // The next visit reads what was told meanwhile.
            () => undefined,
          );
        invalidateFunds();
        readFundsAgain();
      },
    }),
    stream.link.subscribe(() => {
      const link = stream.link.get();
      if (link.spokenEpoch !== spokenEpoch) {
        spokenEpoch = link.spokenEpoch;
        // What happened after the page had read, and before the edge knew whose events it wants.
        readAccount();
      }
      if (link.epoch === epoch) return;
      epoch = link.epoch;
      if (epoch === 1) return;
      // Events were missed while there was no connection.
      for (const queryKey of [TICKERS, ["candles"], TOLD]) void client.invalidateQueries({ queryKey });
    }),
  ];
  return () => leave.forEach((stop) => stop());
}

/** Tickers that a list of markets follows: a connection has 256 channels by default, and a page needs others too. */
export const FOLLOWED_MAX = 200;

/** Follow the tickers of these markets while the component is shown. */
export function useTickerPushes(symbols: readonly string[]): void {
  const stream = useStream();
  const client = useQueryClient();
  const names = symbols.join(" ");
  useEffect(() => {
    if (names === "") return undefined;
    const newest = new Map<string, Ticker>();
    const paint = () => {
      client.setQueryData<Ticker[]>(TICKERS, (tickers) =>
        [...newest.values()].reduce<Ticker[] | undefined>(withTicker, tickers),
      );
      newest.clear();
    };
    const leave = names.split(" ").map((symbol) =>
      stream.follow(`ticker:${symbol}`, {
        onPush: ({ data }) => {
          newest.set(symbol, data as Ticker);
          stream.pace.request(paint);
        },
      }),
    );
    return () => {
      stream.pace.withdraw(paint);
      leave.forEach((stop) => stop());
    };
  }, [stream, client, names]);
}
