/** What the console reads from the engine, and how often. Keys begin with what a change of it makes old. */
import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { GetExchangeStatsResponse } from "#gen/exchange/v1/admin_pb.ts";
import type { Page } from "#lib/paging.ts";
import { appendSample } from "#lib/series.ts";
import { createStore, useStore } from "#lib/store.ts";
import { placesOf } from "#lib/decimal.ts";
import { useEngine } from "./engine.ts";

const STATS_INTERVAL_MS = 2_000;
const LIST_INTERVAL_MS = 5_000;
const RARE_INTERVAL_MS = 30_000;
export const HISTORY_SPAN_MS = 10 * 60_000;
const HISTORY_SAMPLES_MAX = 400;

export interface StatsSample {
  at: number;
  stats: GetExchangeStatsResponse;
}

const history = createStore<readonly StatsSample[]>([]);

/** The figures of the last ten minutes, as far as this page has seen them. */
export function useStatsHistory(): readonly StatsSample[] {
  return useStore(history);
}

/** Forget the figures: they belong to a session. */
export function clearStatsHistory(): void {
  history.set([]);
}

/** The figures of the exchange, read again every two seconds. */
export function useStats(isEnabled = true) {
  const { admin } = useEngine();
  return useQuery({
    queryKey: ["stats"],
    queryFn: async ({ signal }) => {
      const stats = await admin.getExchangeStats({}, { signal });
      history.set(
        appendSample(history.get(), { at: Date.now(), stats }, HISTORY_SPAN_MS, HISTORY_SAMPLES_MAX),
      );
      return stats;
    },
    refetchInterval: STATS_INTERVAL_MS,
    enabled: isEnabled,
  });
}

const pageOf = (page: Page) => ({ limit: page.size, offset: page.index * page.size });

export function useParticipants(page: Page, isEnabled: boolean) {
  const { admin } = useEngine();
  return useQuery({
    queryKey: ["participants", page],
    queryFn: ({ signal }) => admin.listParticipants(pageOf(page), { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: LIST_INTERVAL_MS,
    enabled: isEnabled,
  });
}

export function useParticipant(participantId: string, isEnabled: boolean) {
  const engine = useEngine();
  return useQuery({
    queryKey: ["participants", participantId],
    queryFn: ({ signal }) => engine.getParticipant(participantId, signal),
    refetchInterval: LIST_INTERVAL_MS,
    enabled: isEnabled,
  });
}

export interface OrderFilter {
  participantId: string;
  symbol: string;
  status: string;
}

export function useOrders(filter: OrderFilter, page: Page) {
  const { admin } = useEngine();
  return useQuery({
    queryKey: ["orders", filter, page],
    queryFn: ({ signal }) => admin.listOrders({ ...filter, ...pageOf(page) }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: LIST_INTERVAL_MS,
  });
}

/** How many orders of a participant or a symbol are in the book. */
export function useOpenOrderCount(filter: { participantId?: string; symbol?: string }) {
  const { admin } = useEngine();
  return useQuery({
    queryKey: ["orders", "open count", filter],
    queryFn: async ({ signal }) => {
      const counts = await Promise.all(
        ["OPEN", "PARTIALLY_FILLED"].map((status) =>
          admin.listOrders({ ...filter, status, limit: 1 }, { signal }),
        ),
      );
      return counts.reduce((sum, { total }) => sum + total, 0);
    },
    refetchInterval: LIST_INTERVAL_MS,
  });
}

export interface TradeFilter {
  participantId: string;
  symbol: string;
}

export function useTrades(filter: TradeFilter, page: Page) {
  const { admin } = useEngine();
  return useQuery({
    queryKey: ["trades", filter, page],
    queryFn: ({ signal }) => admin.listTrades({ ...filter, ...pageOf(page) }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: LIST_INTERVAL_MS,
  });
}

/** Balances of a participant, or of all. */
export function useBalances(participantId: string, isEnabled = true) {
  const { admin } = useEngine();
  return useQuery({
    queryKey: ["balances", participantId],
    queryFn: async ({ signal }) => (await admin.listBalances({ participantId }, { signal })).balances,
    refetchInterval: LIST_INTERVAL_MS,
    enabled: isEnabled,
  });
}

/** Risk metrics of a participant, or of all. */
export function useRiskMetrics(participantId: string, isEnabled: boolean) {
  const { admin } = useEngine();
  return useQuery({
    queryKey: ["risk", participantId],
    queryFn: async ({ signal }) => (await admin.listRiskMetrics({ participantId }, { signal })).metrics,
    refetchInterval: LIST_INTERVAL_MS,
    enabled: isEnabled,
  });
}

/** The names of all symbols, for filters. */
export function useSymbolNames(isEnabled = true): string[] {
  const { admin } = useEngine();
  const { data } = useQuery({
    queryKey: ["symbols", "names"],
    queryFn: ({ signal }) => admin.listSymbols({}, { signal }),
    refetchInterval: RARE_INTERVAL_MS,
    enabled: isEnabled,
  });
  return useMemo(() => data?.symbols.map(({ symbol }) => symbol) ?? [], [data]);
}

export function useSymbols() {
  const engine = useEngine();
  return useQuery({
    queryKey: ["symbols", "all"],
    queryFn: ({ signal }) => engine.symbols(signal),
    refetchInterval: LIST_INTERVAL_MS,
  });
}

export interface Places {
  price: number;
  quantity: number;
}

/** Digits after the point of a symbol's prices and quantities; none for a symbol that was deleted. */
export function useMarketPlaces(): (symbol: string) => Places {
  const { data } = useSymbols();
  return useMemo(() => {
    const places = new Map(
      data?.map((spec) => [
        spec.symbol,
        { price: placesOf(spec.tickSize), quantity: placesOf(spec.lotSize) },
      ]),
    );
    return (symbol) => places.get(symbol) ?? { price: 0, quantity: 0 };
  }, [data]);
}

export function useCurrencies(isEnabled = true) {
  const engine = useEngine();
  return useQuery({
    queryKey: ["currencies"],
    queryFn: ({ signal }) => engine.currencies(signal),
    refetchInterval: LIST_INTERVAL_MS,
    enabled: isEnabled,
  });
}

export type Topic =
  "participants" | "orders" | "trades" | "balances" | "risk" | "symbols" | "currencies" | "stats";

/** Read again what a change has made old. */
export function useRefresh(): (...topics: Topic[]) => Promise<void> {
  const client = useQueryClient();
  return async (...topics) => {
    await Promise.all(topics.map((topic) => client.invalidateQueries({ queryKey: [topic] })));
  };
}

/** Everything on the page, now. */
export async function refreshAll(client: QueryClient): Promise<void> {
  await client.refetchQueries({ type: "active" });
}
