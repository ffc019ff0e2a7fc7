/** What the pages read about deposits. Keys begin with "funds": a notification reads them again. */
import { useQuery } from "@tanstack/react-query";
import { loadPageConfig } from "#lib/pageConfig.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { PAGE, PENDING_MS, UNDER_WAY_MS } from "../api/lists.ts";
import { useSession } from "../api/session.ts";

export type Deposit = Schemas["Deposit"];

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
      state.data?.some(({ status }) => status !== "confirmed") ? UNDER_WAY_MS : PENDING_MS,
  });
}

/** Whether the web server simulates deposits. */
export function useSimulatesDeposits(): boolean {
  const { data } = useQuery({
    queryKey: ["page-config"],
    queryFn: loadPageConfig,
    staleTime: Infinity,
    meta: { isPublic: true },
  });
  return data?.simulatesDeposits ?? false;
}
