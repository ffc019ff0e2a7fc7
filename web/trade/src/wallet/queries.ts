/** What the wallet reads from the REST edge. Keys begin with "funds": a notification reads them again. */
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { loadPageConfig } from "#lib/pageConfig.ts";
import { returned, type Schemas, type Slice, slice, useExchange } from "../api/client.ts";
import { useSession } from "../api/session.ts";

export type Network = Schemas["NetworkFeeResponse"];
export type Deposit = Schemas["DepositResponse"];
export type Transaction = Schemas["TransactionResponse"];
export type Withdrawal = Schemas["WithdrawalResponse"];
export type Conversion = Schemas["ConversionResponse"];
export type NetworkQuote = Schemas["NetworkFeeQuoteResponse"];
export type SavedAddress = Schemas["WithdrawalAddressResponse"];
export type Verification = Schemas["KycStatusResponse"];

export const CONVERSIONS = ["funds", "conversions"] as const;
export const WITHDRAWALS = ["funds", "withdrawals"] as const;
export const ADDRESSES = ["withdrawal-addresses"] as const;

const PAGE = 50;
const PENDING_MS = 10_000;
/** What is under way takes its steps within seconds, and no event tells of them. */
const UNDER_WAY_MS = 2_000;
const PORTFOLIO_MS = 30_000;

export function useNetworks() {
  const { rest } = useExchange();
  return useQuery({
    queryKey: ["networks"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/fees/network/all", { signal })),
    staleTime: Infinity,
    meta: { isPublic: true },
  });
}

export function useDepositAddress(asset: string, network: string) {
  const { rest } = useExchange();
  return useQuery({
    queryKey: ["address", asset, network],
    queryFn: ({ signal }) =>
      returned(
        rest.GET("/api/v1/accounts/deposit-address", { params: { query: { asset, network } }, signal }),
      ),
    staleTime: Infinity,
  });
}

export function useBankDetails(currency: string) {
  const { rest } = useExchange();
  return useQuery({
    queryKey: ["bank", currency],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/accounts/deposit-fiat-info", { params: { query: { currency } }, signal })),
    staleTime: Infinity,
  });
}

export function useDeposits() {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: ["funds", "deposits"],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/accounts/deposits", { params: { query: { limit: PAGE } }, signal })),
    enabled: session !== null,
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "pending") ? UNDER_WAY_MS : PENDING_MS,
  });
}

/** Whether the web server plays deposits. */
export function useSimulatesDeposits(): boolean {
  const { data } = useQuery({
    queryKey: ["page-config"],
    queryFn: loadPageConfig,
    staleTime: Infinity,
    meta: { isPublic: true },
  });
  return data?.simulatesDeposits ?? false;
}

export function useTransactions() {
  const { rest } = useExchange();
  const { session } = useSession();
  return useInfiniteQuery({
    queryKey: ["funds", "transactions"],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) };
      return slice(rest.GET("/api/v1/accounts/transactions", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    enabled: session !== null,
  });
}

export type PortfolioPoint = Schemas["PortfolioPointResponse"];
export type PortfolioInterval = "1h" | "1d" | "1w";

/** What the user held and what it was worth, points `interval` apart over the last `span` milliseconds. */
export function usePortfolioHistory(interval: PortfolioInterval, span: number) {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: ["funds", "portfolio", interval],
    queryFn: ({ signal }) => {
      const query = { interval, from: Date.now() - span };
      return returned(rest.GET("/api/v1/accounts/portfolio-history", { params: { query }, signal }));
    },
    enabled: session !== null,
    placeholderData: keepPreviousData,
    refetchInterval: PORTFOLIO_MS,
  });
}

/** The newest withdrawals, read often while one of them is under way. */
export function useWithdrawals(isUnderWay: (withdrawal: Withdrawal) => boolean) {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: [...WITHDRAWALS, "newest"],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/accounts/withdrawals", { params: { query: { limit: PAGE } }, signal })),
    enabled: session !== null,
    refetchInterval: ({ state }) => (state.data?.some(isUnderWay) ? UNDER_WAY_MS : PENDING_MS),
  });
}

/** Withdrawals by asset and state, a page at a time; an empty text filters nothing. */
export function useWithdrawalList(asset: string, status: Withdrawal["status"] | "") {
  const { rest } = useExchange();
  const { session } = useSession();
  return useInfiniteQuery({
    queryKey: [...WITHDRAWALS, "list", asset, status],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: PAGE,
        ...(asset ? { asset } : {}),
        ...(status ? { status } : {}),
        ...(pageParam ? { cursor: pageParam } : {}),
      };
      return slice(rest.GET("/api/v1/accounts/withdrawals", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    enabled: session !== null,
    placeholderData: keepPreviousData,
  });
}

export function useSavedAddresses() {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: ADDRESSES,
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/users/me/withdrawal-addresses", { signal })),
    enabled: session !== null,
  });
}

export function useVerification() {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: ["kyc"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/kyc/status", { signal })),
    enabled: session !== null,
  });
}

export function useCountries() {
  const { rest } = useExchange();
  return useQuery({
    queryKey: ["countries"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/settings/countries", { signal })),
    staleTime: Infinity,
    meta: { isPublic: true },
  });
}

export type Product = Schemas["ProductResponse"];
export type Stake = Schemas["StakingBalanceResponse"];
export type Unstake = Schemas["UnstakeResponse"];
export type StakingEvent = Schemas["StakingEventResponse"];

export const STAKING = ["funds", "staking"] as const;

/** A list of staking that grows downwards, a page at a time. */
function useStakingList<Row>(
  name: string,
  read: (query: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<Slice<Row>>,
) {
  const { session } = useSession();
  return useInfiniteQuery({
    queryKey: [...STAKING, name],
    queryFn: ({ pageParam, signal }) =>
      read({ limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    enabled: session !== null,
    refetchInterval: PENDING_MS,
  });
}

export function useProducts() {
  const { rest } = useExchange();
  return useQuery({
    queryKey: [...STAKING, "products"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/staking/products", { signal })),
    meta: { isPublic: true },
  });
}

export function useStakes() {
  const { rest } = useExchange();
  return useStakingList("stakes", (query, signal) =>
    slice(rest.GET("/api/v1/staking/balances", { params: { query }, signal })),
  );
}

export function useUnstakes() {
  const { rest } = useExchange();
  return useStakingList("unstakes", (query, signal) =>
    slice(rest.GET("/api/v1/staking/pending", { params: { query }, signal })),
  );
}

export function useStakingHistory() {
  const { rest } = useExchange();
  return useStakingList("history", (query, signal) =>
    slice(rest.GET("/api/v1/staking/history", { params: { query }, signal })),
  );
}
