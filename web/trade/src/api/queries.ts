/** Queries of the REST edge that several folders use. Market data is public and is kept after a logout. */
import { type Query, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Exchange, returned, type Schemas, slice, useExchange } from "./client.ts";
import { useGrowingList } from "./lists.ts";
import { BALANCES, openOrdersOf, readOpenOrders, TICKERS } from "./live.ts";
import { useSession } from "./session.ts";

export type { Order } from "./orderKinds.ts";

const PUBLIC = { isPublic: true };
/** Selects what only its user may read. A public query that is cancelled while it is shown would not be asked again. */
export const OF_ONE_USER = { predicate: ({ meta }: Query) => meta?.isPublic !== true };
/** The stream brings every change. Reading again from time to time repairs a lost event. */
const SAFETY_MS = 30_000;
/** Markets are listed, opened and delisted while the page is shown. */
const MARKETS_MS = 60_000;
const SHOWN_MARKETS_MS = 10_000;

export type Market = Schemas["Market"];
export type AssetPrice = Schemas["AssetFairPrice"];
export type Ticker = Schemas["Ticker"];
export type TradingRules = Schemas["TradingResponse"];
export type Network = Schemas["NetworkFeeResponse"];
export type Balance = Schemas["Balance"];
export type Fill = Schemas["OwnTrade"];

/** All markets. While their list is shown it is read every few seconds, so that a new market appears. */
export function useMarkets(isShown = false) {
  const { rest } = useExchange();
  return useQuery({
    queryKey: ["markets"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/markets", { signal })),
    staleTime: isShown ? SHOWN_MARKETS_MS : MARKETS_MS,
    refetchInterval: isShown ? SHOWN_MARKETS_MS : MARKETS_MS,
    meta: PUBLIC,
  });
}

/** The rules of orders that are on, and what an order may ask for. They change only when the exchange restarts. */
export function useTradingRules() {
  const { rest } = useExchange();
  return useQuery({
    queryKey: ["tradingRules"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/settings/trading", { signal })),
    staleTime: Infinity,
    meta: PUBLIC,
  });
}

const tickersOf = ({ rest }: Exchange) =>
  queryOptions({
    queryKey: TICKERS,
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/markets/tickers", { signal })),
    refetchInterval: SAFETY_MS,
    meta: PUBLIC,
  });

export function useTickers() {
  return useQuery(tickersOf(useExchange()));
}

const lastPriceOf = (tickers: readonly Ticker[] | undefined, symbol: string) =>
  tickers?.find((ticker) => ticker.symbol === symbol)?.lastPrice ?? null;

/** The last price of a market; null before its first trade. */
export function useLastPrice(symbol: string): string | null {
  const select = (tickers: readonly Ticker[]) => lastPriceOf(tickers, symbol);
  return useQuery({ ...tickersOf(useExchange()), select }).data ?? null;
}

/** Reads last prices when it is called. Its component is not drawn again with every price, as a long list must not be. */
export function useReadLastPrice(): (symbol: string) => string | null {
  const client = useQueryClient();
  const options = tickersOf(useExchange());
  useQuery({ ...options, notifyOnChangeProps: [] });
  return (symbol) => lastPriceOf(client.getQueryData(options.queryKey), symbol);
}

/** The networks that carry each asset, with their fees. */
export function useNetworks(everyMs = SAFETY_MS) {
  const { rest } = useExchange();
  return useQuery({
    queryKey: ["networks"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/fees/network/all", { signal })),
    staleTime: everyMs,
    refetchInterval: everyMs,
    meta: PUBLIC,
  });
}

export function readTrades(exchange: Exchange, symbol: string, limit: number) {
  return returned(
    exchange.rest.GET("/api/v1/markets/{symbol}/trades", {
      params: { path: { symbol }, query: { limit } },
    }),
  );
}

export function readCandles(
  exchange: Exchange,
  symbol: string,
  interval: Schemas["Interval"],
  range: { from?: string; to?: string },
  limit: number,
) {
  return returned(
    exchange.rest.GET("/api/v1/markets/{symbol}/candles", {
      params: { path: { symbol }, query: { interval, limit, ...range } },
    }),
  );
}

export function useBalances() {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: BALANCES,
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/accounts/balances", { signal })),
    enabled: session !== null,
    refetchInterval: SAFETY_MS,
  });
}

/** As many as the exchange sends at a time. */
const OPEN_MAX = 1_000;

/** The newest open orders of a market, or without one those of all. */
export function useOpenOrders(symbol?: string) {
  const { rest } = useExchange();
  const { session } = useSession();
  const query = { status: "pending,open,partially_filled", limit: OPEN_MAX, ...(symbol ? { symbol } : {}) };
  return useQuery({
    queryKey: openOrdersOf(symbol),
    queryFn: ({ signal }) =>
      readOpenOrders(symbol, () => slice(rest.GET("/api/v1/orders", { params: { query }, signal }))),
    enabled: session !== null,
    refetchInterval: SAFETY_MS,
  });
}

export function useFills(symbol: string | undefined) {
  const { rest } = useExchange();
  return useGrowingList(["orders", "fills", symbol], (position, signal) => {
    const query = { ...position, ...(symbol ? { symbol } : {}) };
    return slice(rest.GET("/api/v1/orders/trades", { params: { query }, signal }));
  });
}
