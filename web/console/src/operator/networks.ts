/** The networks of coins at the REST edge: what operators read of them, and what they change. */
import { useQuery } from "@tanstack/react-query";
import { parseCount } from "#lib/counts.ts";
import { compareDecimals, isDecimal, isPositive } from "#lib/decimal.ts";
import { type Edge, returned, type Schemas, useEdge } from "./client.ts";

const LIST_INTERVAL_MS = 5_000;

export type CoinNetwork = Schemas["CoinNetworkResponse"];
export type CoinNetworkBody = Schemas["CoinNetworkBody"];
export type AddressForm = NonNullable<CoinNetworkBody["addressForm"]>;

export const ADDRESS_FORMS: readonly AddressForm[] = ["bitcoin", "ethereum", "solana", "tron", "stellar"];

/** What the fields of a network hold, as they were typed. An empty form and empty confirmations keep what is known. */
export interface NetworkDraft {
  network: string;
  addressForm: AddressForm | "";
  confirmations: string;
  takesTag: boolean;
  withdrawalFee: string;
  withdrawalMinimum: string;
  depositMinimum: string;
}

export const EMPTY_NETWORK: NetworkDraft = {
  network: "",
  addressForm: "",
  confirmations: "",
  takesTag: false,
  withdrawalFee: "",
  withdrawalMinimum: "",
  depositMinimum: "",
};

const NAME = /^[a-z][a-z0-9-]{1,31}$/;

/** The draft that changes nothing of a network. */
export function draftOf(known: CoinNetwork): NetworkDraft {
  return {
    network: known.network,
    addressForm: "",
    confirmations: "",
    takesTag: known.takesTag,
    withdrawalFee: known.withdrawalFee,
    withdrawalMinimum: known.withdrawalMinimum,
    depositMinimum: known.depositMinimum,
  };
}

/** What is missing in a draft or is none of its kind. The edge knows all other rules. */
export function networkFaults(draft: NetworkDraft): string[] {
  const isFee = (text: string) => isDecimal(text) && compareDecimals(text, "0") >= 0;
  return [
    NAME.test(draft.network) ? "" : "Give the network a name of small letters, digits and hyphens.",
    draft.confirmations === "" || parseCount(draft.confirmations) !== null
      ? ""
      : "Confirmations are a whole number.",
    isFee(draft.withdrawalFee) ? "" : "Give the withdrawal fee, 0 for none.",
    isDecimal(draft.withdrawalMinimum) && isPositive(draft.withdrawalMinimum)
      ? ""
      : "Give the least withdrawal, fee included.",
    isDecimal(draft.depositMinimum) && isPositive(draft.depositMinimum) ? "" : "Give the least deposit.",
  ].filter((fault) => fault !== "");
}

function bodyOf(draft: NetworkDraft, reason: string): CoinNetworkBody {
  const confirmations = parseCount(draft.confirmations);
  return {
    ...(draft.addressForm === "" ? {} : { addressForm: draft.addressForm, takesTag: draft.takesTag }),
    ...(confirmations === null ? {} : { confirmations }),
    withdrawalFee: draft.withdrawalFee,
    withdrawalMinimum: draft.withdrawalMinimum,
    depositMinimum: draft.depositMinimum,
    reason,
  };
}

/** Give a coin a network, or change its terms there. Rejects with EdgeError. */
export function putNetwork({ rest }: Edge, asset: string, draft: NetworkDraft, reason: string) {
  return returned(
    rest.PUT("/api/v1/operator/coins/{asset}/networks/{network}", {
      params: { path: { asset, network: draft.network } },
      body: bodyOf(draft, reason),
    }),
  );
}

/** Take a network away that was added. Rejects with EdgeError. */
export function removeNetwork({ rest }: Edge, asset: string, network: string, reason: string) {
  return returned(
    rest.POST("/api/v1/operator/coins/{asset}/networks/{network}/removal", {
      params: { path: { asset, network } },
      body: { reason },
    }),
  );
}

/** The networks of a coin. */
export function useCoinNetworks(asset: string) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["people", "networks", asset],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/operator/coins/{asset}/networks", { params: { path: { asset } }, signal })),
    refetchInterval: LIST_INTERVAL_MS,
  });
}
