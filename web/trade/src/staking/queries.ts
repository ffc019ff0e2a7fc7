/** Queries of staking. Keys begin with "funds": a notification reads them again. */
import { useQuery } from "@tanstack/react-query";
import { returned, type Schemas, slice, useExchange } from "../api/client.ts";
import { PENDING_MS, useGrowingList } from "../api/lists.ts";

export type Product = Schemas["ProductResponse"];
export type Stake = Schemas["StakingBalanceResponse"];
export type Unstake = Schemas["UnstakeResponse"];
export type StakingEvent = Schemas["StakingEventResponse"];

export const STAKING = ["funds", "staking"] as const;

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
  return useGrowingList(
    [...STAKING, "stakes"],
    (query, signal) => slice(rest.GET("/api/v1/staking/balances", { params: { query }, signal })),
    PENDING_MS,
  );
}

export function useUnstakes() {
  const { rest } = useExchange();
  return useGrowingList(
    [...STAKING, "unstakes"],
    (query, signal) => slice(rest.GET("/api/v1/staking/pending", { params: { query }, signal })),
    PENDING_MS,
  );
}

export function useStakingHistory() {
  const { rest } = useExchange();
  return useGrowingList(
    [...STAKING, "history"],
    (query, signal) => slice(rest.GET("/api/v1/staking/history", { params: { query }, signal })),
    PENDING_MS,
  );
}
