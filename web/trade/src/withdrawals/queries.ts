/** Queries of withdrawals. Keys begin with "funds": a notification reads them again. */
import { useQuery } from "@tanstack/react-query";
import { returned, type Schemas, slice, useExchange } from "../api/client.ts";
import { PAGE, PENDING_MS, UNDER_WAY_MS, useGrowingList } from "../api/lists.ts";
import { useSession } from "../api/session.ts";

export type Withdrawal = Schemas["WithdrawalRecord"];
export type NetworkQuote = Schemas["NetworkFeeQuoteResponse"];
export type SavedAddress = Schemas["WithdrawalAddressResponse"];

export const WITHDRAWALS = ["funds", "withdrawals"] as const;
export const ADDRESSES = ["withdrawal-addresses"] as const;

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
  const filters = { ...(asset ? { asset } : {}), ...(status ? { status } : {}) };
  return useGrowingList([...WITHDRAWALS, "list", asset, status], (position, signal) =>
    slice(
      rest.GET("/api/v1/accounts/withdrawals", { params: { query: { ...position, ...filters } }, signal }),
    ),
  );
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
