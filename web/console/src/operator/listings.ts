/** The listing of markets at the REST edge: what operators read of it, and what they change. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { parseCount } from "#lib/counts.ts";
import { isDecimal, isPositive } from "#lib/decimal.ts";
import { parseBasisPoints } from "../engine/markets.ts";
import { EdgeError } from "../engine/errors.ts";
import { explain } from "../engine/messages.ts";
import { type Edge, returned, type Schemas, useEdge } from "./client.ts";
import { type NetworkDraft, putNetwork } from "./networks.ts";

const LIST_INTERVAL_MS = 5_000;
const KNOWN_PAUSE_MS = 500;
const KNOWN_ATTEMPTS = 20;
export const REASON_LENGTH_MIN = 3;

export type MarketListing = Schemas["MarketListing"];
export type MarketTerms = Schemas["MarketTerms"];
export type ListingChange = Schemas["ListingChange"];
export type RuleCheck = Schemas["RuleCheck"];
export type MarketStatus = MarketTerms["status"];
export type NewListing = Schemas["NewMarketBody"];
export type TermsChange = Schemas["TermsChange"];
/** A phase that an operator may set. */
export type Phase = Schemas["PhaseChange"]["phase"];

/** A status, what the market takes in it, and which statuses an operator may set after it. */
export interface StatusDescription {
  title: string;
  description: string;
  following: readonly MarketStatus[];
}

export const STATUSES: Record<MarketStatus, StatusDescription> = {
  announced: {
    title: "Announced",
    description: "Traders see it. It takes no order.",
    following: ["post-only", "auction", "open"],
  },
  "post-only": {
    title: "Post-only",
    description: "Only limit orders that rest come in.",
    following: ["auction", "open"],
  },
  auction: {
    title: "Auction",
    description: "Limit orders collect. They trade at one price when the market opens.",
    following: ["open"],
  },
  open: { title: "Open", description: "It trades.", following: [] },
  delisting: {
    title: "Delisting",
    description: "It takes no order, and the engine cancels the open ones.",
    following: [],
  },
  delisted: {
    title: "Delisted",
    description: "No order is open. Its past can be read, and balances can be withdrawn.",
    following: ["announced"],
  },
};

/** Whether a market can be delisted. */
export function canDelist(status: MarketStatus): boolean {
  return status !== "delisting" && status !== "delisted";
}

/** A schedule with the delisting at a time, of the form 2026-12-01T12:00 in UTC; null if that is none. */
export function delistingSchedule(
  schedule: MarketTerms["schedule"],
  text: string,
): Schemas["StatusAtBody"][] | null {
  const at = Date.parse(`${text}Z`);
  if (Number.isNaN(at)) return null;
  return [...schedule.filter(({ status }) => status !== "delisting"), { status: "delisting", at }];
}

/** What the form of a new market holds, as it was typed. Times are of the form 2026-12-01T12:00, in UTC. */
export interface ListingDraft {
  base: string;
  quote: string;
  isNewAsset: boolean;
  assetName: string;
  assetPlaces: string;
  logo: string;
  name: string;
  announcement: string;
  tickSize: string;
  lotSize: string;
  takerFee: string;
  makerFee: string;
  quantityMin: string;
  quantityMax: string;
  notionalMin: string;
  notionalMax: string;
  deviationBpsMax: string;
  slippageBpsMax: string;
  status: MarketStatus;
  postOnlyAt: string;
  auctionAt: string;
  openAt: string;
  reason: string;
}

export const EMPTY_DRAFT: ListingDraft = {
  base: "",
  quote: "USD",
  isNewAsset: true,
  assetName: "",
  assetPlaces: "8",
  logo: "",
  name: "",
  announcement: "",
  tickSize: "",
  lotSize: "",
  takerFee: "25",
  makerFee: "15",
  quantityMin: "",
  quantityMax: "",
  notionalMin: "1",
  notionalMax: "1000000",
  deviationBpsMax: "2000",
  slippageBpsMax: "500",
  status: "announced",
  postOnlyAt: "",
  auctionAt: "",
  openAt: "",
  reason: "",
};

/** The draft that lists a symbol which was created alone: what it has already is filled in. */
export function draftOf(market: MarketListing): ListingDraft {
  const { baseCurrency, quoteCurrency, tickSize, lotSize, takerFee, makerFee } = market;
  return {
    ...EMPTY_DRAFT,
    base: baseCurrency,
    quote: quoteCurrency,
    isNewAsset: false,
    tickSize,
    lotSize,
    takerFee: String(takerFee),
    makerFee: String(makerFee),
    quantityMin: lotSize,
  };
}

const DECIMALS = ["tickSize", "lotSize", "quantityMin", "quantityMax", "notionalMin", "notionalMax"] as const;
const COUNTS = ["deviationBpsMax", "slippageBpsMax"] as const;

/** The fields of a draft that hold no number where one is needed, each with what is wrong; empty texts are not named. */
export function typingFaults(draft: ListingDraft): Partial<Record<keyof ListingDraft, string>> {
  const faults: Partial<Record<keyof ListingDraft, string>> = {};
  for (const field of DECIMALS) {
    const text = draft[field];
    if (text !== "" && !(isDecimal(text) && isPositive(text))) faults[field] = "A decimal above 0.";
  }
  for (const field of COUNTS) {
    if (draft[field] !== "" && parseCount(draft[field]) === null)
      faults[field] = "A whole number of basis points.";
  }
  if (draft.takerFee !== "" && parseBasisPoints(draft.takerFee) === null) faults.takerFee = "A whole number.";
  if (draft.makerFee !== "" && parseBasisPoints(draft.makerFee) === null) faults.makerFee = "A whole number.";
  if (draft.isNewAsset && draft.assetPlaces !== "" && parseCount(draft.assetPlaces) === null)
    faults.assetPlaces = "A whole number.";
  return faults;
}

/** The body that lists the market of a draft, or null while something that the engine needs is missing. */
export function newListing(draft: ListingDraft): NewListing | null {
  const takerFee = parseBasisPoints(draft.takerFee);
  const makerFee = parseBasisPoints(draft.makerFee);
  const deviationBpsMax = parseCount(draft.deviationBpsMax);
  const slippageBpsMax = parseCount(draft.slippageBpsMax);
  const places = parseCount(draft.assetPlaces);
  const schedule = scheduleOf(draft);
  const hasDecimals = DECIMALS.every((field) => isDecimal(draft[field]) && isPositive(draft[field]));
  if (draft.base === "" || draft.quote === "" || !hasDecimals || schedule === null) return null;
  if (takerFee === null || makerFee === null || deviationBpsMax === null || slippageBpsMax === null)
    return null;
  if (draft.isNewAsset && places === null) return null;
  return {
    symbol: `${draft.base}-${draft.quote}`,
    ...(draft.isNewAsset
      ? {
          asset: {
            currency: draft.base,
            name: draft.assetName.trim(),
            places: places ?? 0,
            logo: draft.logo.trim(),
          },
        }
      : {}),
    name: draft.name.trim(),
    announcement: draft.announcement.trim(),
    tickSize: draft.tickSize,
    lotSize: draft.lotSize,
    takerFee,
    makerFee,
    quantityMin: draft.quantityMin,
    quantityMax: draft.quantityMax,
    notionalMin: draft.notionalMin,
    notionalMax: draft.notionalMax,
    deviationBpsMax,
    slippageBpsMax,
    status: draft.status,
    schedule,
    // The checks do not look at it, but a body without one is no body.
    reason: draft.reason.trim().length < REASON_LENGTH_MIN ? "not given yet" : draft.reason.trim(),
  };
}

/** The statuses that follow by themselves, or null if a time is none. */
function scheduleOf(draft: ListingDraft): Schemas["StatusAtBody"][] | null {
  const given = [
    { status: "post-only" as const, text: draft.postOnlyAt },
    { status: "auction" as const, text: draft.auctionAt },
    { status: "open" as const, text: draft.openAt },
  ].filter(({ text }) => text !== "");
  const schedule = given.map(({ status, text }) => ({ status, at: Date.parse(`${text}Z`) }));
  return schedule.some(({ at }) => Number.isNaN(at)) ? null : schedule;
}

/** All markets with their terms. */
export function useListings(isEnabled = true) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["listings", "all"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/markets", { signal })),
    refetchInterval: LIST_INTERVAL_MS,
    enabled: isEnabled,
  });
}

/** The changes of a market, the newest first. */
export function useListingChanges(symbol: string) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["listings", "changes", symbol],
    queryFn: ({ signal }) =>
      returned(
        rest.GET("/api/v1/operator/markets/{symbol}/changes", { params: { path: { symbol } }, signal }),
      ),
    refetchInterval: LIST_INTERVAL_MS,
  });
}

/** Every rule for a new market, as the engine sees it. Nothing is asked while the draft is not complete. */
export function useListingChecks(body: NewListing | null) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["listings", "checks", body],
    queryFn: ({ signal }) =>
      body === null
        ? Promise.resolve([])
        : returned(rest.POST("/api/v1/operator/markets/checks", { body, signal })),
    placeholderData: keepPreviousData,
    enabled: body !== null,
  });
}

function useListingWork<Input, Outcome>(
  send: (input: Input) => Promise<Outcome>,
  onDone: (outcome: Outcome) => void,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: onDone,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["listings"] }),
        client.invalidateQueries({ queryKey: ["symbols"] }),
      ]),
  });
}

/**
 * List a market, and give its new coin networks. Once the market is listed this succeeds: `onDone` is told which network
 * was refused and why, null if none was. The rest can be added on the market's page.
 */
export function useNewListing(networks: readonly NetworkDraft[], onDone: (broken: string | null) => void) {
  const edge = useEdge();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: NewListing) => {
      await returned(edge.rest.POST("/api/v1/operator/markets", { body }));
      if (!body.asset) return null;
      for (const network of networks) {
        try {
          await putOnceKnown(edge, body.asset.currency, network, body.reason);
        } catch (error) {
          return `The network ${network.network} is missing: ${explain(error).title}`;
        }
      }
      return null;
    },
    onSuccess: onDone,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["listings"] }),
        client.invalidateQueries({ queryKey: ["symbols"] }),
      ]),
  });
}

/** The edge knows a new coin within a second: until then it says that there is none. */
async function putOnceKnown(edge: Edge, asset: string, network: NetworkDraft, reason: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await putNetwork(edge, asset, network, reason);
      return;
    } catch (error) {
      const isUnknown = error instanceof EdgeError && error.code === "ASSET_NOT_FOUND";
      if (!isUnknown || attempt === KNOWN_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, KNOWN_PAUSE_MS));
    }
  }
}

/** The texts that are typed in `draft`, which began with `before`, on the texts of now. */
export function typedOn<Texts extends Record<string, string>>(
  before: Texts,
  draft: Texts,
  present: Texts,
): Texts {
  const typed = Object.entries(draft).filter(([name, text]) => text !== (before[name] ?? ""));
  return { ...present, ...Object.fromEntries(typed) };
}

const OUTDATED = ["MARKET_CHANGED", "PHASE_CHANGED"];

/** The market as it is now, once a change of it was refused because it is not as it was seen. */
export function usePresentMarket(symbol: string, refusal: unknown): MarketListing | undefined {
  const { data } = useListings();
  const isOutdated = refusal instanceof EdgeError && OUTDATED.includes(refusal.code);
  return isOutdated ? data?.find((market) => market.symbol === symbol) : undefined;
}

/** Change the terms of a market. */
export function useListingChange(symbol: string, onDone: () => void) {
  const { rest } = useEdge();
  return useListingWork(
    (body: TermsChange) =>
      returned(rest.PATCH("/api/v1/operator/markets/{symbol}", { params: { path: { symbol } }, body })),
    onDone,
  );
}

/** Let a market get another status on its way to trading. */
export function useOpening(symbol: string, onDone: () => void) {
  const { rest } = useEdge();
  return useListingWork(
    (body: Schemas["OpeningBody"]) =>
      returned(rest.PUT("/api/v1/operator/markets/{symbol}/status", { params: { path: { symbol } }, body })),
    onDone,
  );
}

/** Let a market enter a phase. */
export function usePhaseChange(symbol: string, onDone: (outcome: Schemas["PhaseOfMarket"]) => void) {
  const { rest } = useEdge();
  return useListingWork(
    (body: Schemas["PhaseChange"]) =>
      returned(rest.PUT("/api/v1/operator/markets/{symbol}/phase", { params: { path: { symbol } }, body })),
    onDone,
  );
}

/** How many orders are open on a market, by a dry run of their cancellation. */
export function useOpenOrders(symbol: string) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["listings", "openOrders", symbol],
    queryFn: () =>
      returned(
        rest.POST("/api/v1/operator/markets/{symbol}/cancel-orders", {
          params: { path: { symbol } },
          body: { dryRun: true, reason: "count the open orders" },
        }),
      ),
    gcTime: 0,
  });
}

/** Cancel the open orders of everybody on a market. `key` names the attempt: sent again, it cancels nothing new. */
export function useOrdersCancellation(
  symbol: string,
  key: string,
  onDone: (outcome: Schemas["CancelOrdersResponse"]) => void,
) {
  const { rest } = useEdge();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { confirmedOrders: number; reason: string }) =>
      returned(
        rest.POST("/api/v1/operator/markets/{symbol}/cancel-orders", {
          params: { path: { symbol }, header: { "Idempotency-Key": key } },
          body: { ...body, dryRun: false },
        }),
      ),
    onSuccess: onDone,
    onSettled: () => client.invalidateQueries({ queryKey: ["listings"] }),
  });
}

/** Delist a market. */
export function useDelisting(symbol: string, onDone: () => void) {
  const { rest } = useEdge();
  return useListingWork(
    (body: Schemas["DelistingBody"]) =>
      returned(
        rest.POST("/api/v1/operator/markets/{symbol}/delisting", { params: { path: { symbol } }, body }),
      ),
    onDone,
  );
}
