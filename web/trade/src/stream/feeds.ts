/** What the page shows of a market's stream: stores that change at most ten times a second, however much comes. */
import { createStore, type Store } from "#lib/store.ts";
import { type Book, type BookMessage, keepBook } from "./book.ts";
import type { Stream } from "./connection.ts";

export interface BookState {
  /** The newest book, or the last one known while `isCurrent` is false; null before the first. */
  book: Book | null;
  /** Whether the book continues the edge's without a gap. */
  isCurrent: boolean;
  /** How many times a gap or a wrong checksum was found. */
  resyncs: number;
}

export interface Feed<Value> {
  store: Store<Value>;
  stop: () => void;
}

/** The whole book of a market. */
export function followBook(stream: Stream, symbol: string): Feed<BookState> {
  const channel = `orderbook:${symbol}`;
  const keeper = keepBook();
  const store = createStore<BookState>({ book: null, isCurrent: false, resyncs: 0 });
  const paint = () => store.set({ ...store.get(), book: keeper.book(), isCurrent: true });
  const drop = () => {
    keeper.drop();
    stream.pace.withdraw(paint);
    if (store.get().isCurrent) store.set({ ...store.get(), isCurrent: false });
  };
  const leave = stream.follow(channel, {
    onPush: ({ data }) => {
      const outcome = keeper.apply(data as BookMessage);
      if (outcome === "applied") stream.pace.request(paint);
      else if (outcome !== "ignored") {
        drop();
        store.set({ ...store.get(), resyncs: store.get().resyncs + 1 });
        stream.refresh(channel);
      }
    },
    onBreak: drop,
  });
  return {
    store,
    stop() {
      leave();
      stream.pace.withdraw(paint);
    },
  };
}

export interface MarketTrade {
  tradeId: string;
  price: string;
  quantity: string;
  /** The taker's side. */
  side: "buy" | "sell";
  timestamp: number;
  sequence: number;
}

interface PushedTrade extends Omit<MarketTrade, "sequence"> {
  seq: number;
  prevSeq: number;
}

export const TRADES_SHOWN = 60;

/** `known` with `more`, each trade once, the newest first. */
export function mergeTrades(known: readonly MarketTrade[], more: readonly MarketTrade[]): MarketTrade[] {
  const bySequence = new Map([...known, ...more].map((trade) => [trade.sequence, trade]));
  return [...bySequence.values()].sort((a, b) => b.sequence - a.sequence).slice(0, TRADES_SHOWN);
}

export interface TradesState {
  /** Newest first; null until the first list has come. */
  trades: readonly MarketTrade[] | null;
  error: unknown;
}

/** The newest trades of a market: read once, continued by the stream, read again after a gap. */
export function followTrades(
  stream: Stream,
  symbol: string,
  read: () => Promise<readonly MarketTrade[]>,
): Feed<TradesState> {
  const store = createStore<TradesState>({ trades: null, error: null });
  let trades: readonly MarketTrade[] = [];
  let newest: number | null = null;
  let isStopped = false;
  const paint = () => store.set({ trades, error: null });
  const load = () => {
    read().then(
      (found) => {
        if (isStopped) return;
        trades = mergeTrades(trades, found);
        store.set({ trades, error: null });
      },
      (error: unknown) => {
        if (!isStopped) store.set({ ...store.get(), error });
      },
    );
  };
  const leave = stream.follow(`trades:${symbol}`, {
    onPush: ({ data }) => {
      const { seq, prevSeq, ...trade } = data as PushedTrade;
      if (newest !== null && seq <= newest) return;
      const isGap = newest !== null && prevSeq !== newest;
      newest = seq;
      trades = mergeTrades(trades, [{ ...trade, sequence: seq }]);
      if (isGap) load();
      if (store.get().trades !== null) stream.pace.request(paint);
    },
  });
  let epoch = stream.link.get().epoch;
  const unwatch = stream.link.subscribe(() => {
    // What was traded while there was no connection.
    if (stream.link.get().epoch === epoch) return;
    epoch = stream.link.get().epoch;
    newest = null;
    load();
  });
  load();
  return {
    store,
    stop() {
      isStopped = true;
      leave();
      unwatch();
      stream.pace.withdraw(paint);
    },
  };
}
