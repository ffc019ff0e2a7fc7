/** The house's accounts, their levels, and what moves between them, comes in and goes out. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type Schemas, returned, slice, useEdge } from "../operator/client.ts";
import { useGrowingList } from "./queries.ts";
import type { Span } from "./span.ts";

const INTERVAL_MS = 5_000;

type HouseAccountResponse = Schemas["HouseAccountResponse"];

/** What an account has of an asset. `isSettling` says that the ledger takes what the engine has done. */
export type HouseBalance = Schemas["HouseBalanceResponse"] & { isSettling: boolean };
export type HouseAccount = Omit<HouseAccountResponse, "balances"> & { balances: HouseBalance[] };
export type HouseTransfer = Schemas["HouseTransferResponse"];
export type HouseFlow = Schemas["HouseFlowResponse"];
export type HouseEntry = Schemas["HouseEntryResponse"];

/** One line of the table: an account with one of its assets, or alone if it has none. */
export interface HouseRow {
  account: HouseAccount;
  balance: HouseBalance | null;
}

/** The lines of the table. */
export function rowsOf(accounts: readonly HouseAccount[]): HouseRow[] {
  return accounts.flatMap((account): HouseRow[] =>
    account.balances.length === 0
      ? [{ account, balance: null }]
      : account.balances.map((balance) => ({ account, balance })),
  );
}

/**
 * The accounts of this look, beside those of the look before. The two sides are not read at one moment, so they differ
 * wherever something is being settled. A difference counts when it is the same in two looks.
 */
export function comparedWith(
  before: readonly HouseAccountResponse[] | undefined,
  now: readonly HouseAccountResponse[],
): HouseAccount[] {
  const known = new Map(
    before?.flatMap(({ account, balances }) =>
      balances.map(({ asset, difference }) => [`${account} ${asset}`, difference] as const),
    ),
  );
  return now.map((of) => ({
    ...of,
    balances: of.balances.map((balance) => ({
      ...balance,
      isSettling:
        balance.difference !== null &&
        balance.difference !== "0" &&
        known.get(`${of.account} ${balance.asset}`) !== balance.difference,
    })),
  }));
}

const REFERENCE_LENGTH_MAX = 128;

/** Why a text is no external reference, or an empty text. */
export function referenceFault(reference: string): string {
  if (reference === "") return "Enter what names it outside.";
  if (reference.length > REFERENCE_LENGTH_MAX) return `At most ${REFERENCE_LENGTH_MAX} characters.`;
  if (!/^[!#-[\]-~]*$/.test(reference))
    return "Letters, digits and signs of ASCII, without blanks, quotes and backslashes.";
  return "";
}

const ACCOUNTS = ["people", "house accounts"];

export function useHouseAccounts() {
  const { rest } = useEdge();
  const client = useQueryClient();
  return useQuery({
    queryKey: ACCOUNTS,
    queryFn: async ({ signal }) =>
      comparedWith(
        client.getQueryData<HouseAccount[]>(ACCOUNTS),
        await returned(rest.GET("/api/v1/operator/treasury/accounts", { signal })),
      ),
    refetchInterval: INTERVAL_MS,
  });
}

export function useHouseTransfers(span: Span) {
  return useGrowingList<HouseTransfer>(["house transfers", span], ({ rest }, place, signal) =>
    slice(
      rest.GET("/api/v1/operator/treasury/transfers", { params: { query: { ...span, ...place } }, signal }),
    ),
  );
}

export function useHouseFlows(span: Span) {
  return useGrowingList<HouseFlow>(["house flows", span], ({ rest }, place, signal) =>
    slice(rest.GET("/api/v1/operator/treasury/flows", { params: { query: { ...span, ...place } }, signal })),
  );
}

export function useHouseEntries(account: string, span: Span) {
  return useGrowingList<HouseEntry>(["house entries", account, span], ({ rest }, place, signal) =>
    slice(
      rest.GET("/api/v1/operator/treasury/accounts/{account}/entries", {
        params: { path: { account }, query: { ...span, ...place } },
        signal,
      }),
    ),
  );
}
