/** Queries of bookings and of the portfolio. Keys begin with "funds": a notification reads them again. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { returned, type Schemas, slice, useExchange } from "../api/client.ts";
import { useGrowingList } from "../api/lists.ts";
import { useSession } from "../api/session.ts";

export type Transaction = Schemas["LedgerHistoryEntry"];
export type PortfolioPoint = Schemas["PortfolioPointResponse"];
export type PortfolioReturn = Schemas["PortfolioReturnResponse"];
export type ReturnPeriod = "day" | "week" | "month" | "year" | "all";
export type PortfolioInterval = "1h" | "1d" | "1w";

const PORTFOLIO_MS = 30_000;

export function useTransactions() {
  const { rest } = useExchange();
  return useGrowingList(["funds", "transactions"], (query, signal) =>
    slice(rest.GET("/api/v1/accounts/transactions", { params: { query }, signal })),
  );
}

/** What the user gained over a period, without what was paid in and out. */
export function usePortfolioReturn(period: ReturnPeriod) {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: ["funds", "portfolio-return", period],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/accounts/portfolio-return", { params: { query: { period } }, signal })),
    enabled: session !== null,
    refetchInterval: PORTFOLIO_MS,
  });
}

/**
 * The user's balances and their value at points of time, `interval` apart, over the last `span` milliseconds; nothing
 * while the span is not known. Each `period` keeps its own: two may have the same interval.
 */
export function usePortfolioHistory(period: ReturnPeriod, interval: PortfolioInterval, span: number | null) {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: ["funds", "portfolio", period, interval],
    queryFn: ({ signal }) => {
      const query = { interval, from: Date.now() - (span ?? 0) };
      return returned(rest.GET("/api/v1/accounts/portfolio-history", { params: { query }, signal }));
    },
    enabled: session !== null && span !== null,
    placeholderData: keepPreviousData,
    refetchInterval: PORTFOLIO_MS,
  });
}
