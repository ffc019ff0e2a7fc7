/** What the pages read from the position service. Keys begin with "positions": a change of one reads all again. */
import { type QueryClient, skipToken, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type PositionClient, type PositionSchemas, returned, slice } from "../api/client.ts";

export type Position = PositionSchemas["PositionResponse"];
export type Transfer = PositionSchemas["TransferResponse"];
export type Holding = PositionSchemas["HoldingResponse"];
export type TaxYear = PositionSchemas["YearResponse"];
export type Lot = PositionSchemas["LotResponse"];
export type Disposal = PositionSchemas["DisposalResponse"];
export type SpotResults = PositionSchemas["SpotResultsResponse"];
export type SpotCost = PositionSchemas["SpotCostResponse"];
export type SpotHolding = PositionSchemas["SpotResultResponse"];
export type SpotMarkets = PositionSchemas["SpotMarketsResponse"];
export type SpotMarket = PositionSchemas["SpotMarketResponse"];
export type CostBasis = PositionSchemas["CostBasisResponse"];
export type ImportReport = PositionSchemas["ImportResponse"];

/** Who is looked at, and through what. */
export interface Owner {
  positions: PositionClient;
  userId: string;
}

const PAGE = 50;
/** The service marks positions to new prices this often by default. */
const MARKED_MS = 10_000;
/** Results of all time are summed for each reading. */
const RESULTS_MS = 30_000;

export function readAgain(client: QueryClient): void {
  void client.invalidateQueries({ queryKey: ["positions"] });
}

export function usePositions({ positions, userId }: Owner) {
  return useInfiniteQuery({
    queryKey: ["positions", "list", userId],
    queryFn: ({ pageParam, signal }) => {
      const query = { participantId: userId, limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) };
      return slice(positions.GET("/api/pms/positions", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: MARKED_MS,
  });
}

export function useResults({ positions, userId }: Owner) {
  return useQuery({
    queryKey: ["positions", "results", userId],
    queryFn: ({ signal }) =>
      returned(
        positions.GET("/api/pms/pnl/{participantId}", {
          params: { path: { participantId: userId } },
          signal,
        }),
      ),
    refetchInterval: MARKED_MS,
  });
}

/** What is held with its results; nothing is asked where there is no owner. */
export function useSpotResults(owner: Owner | null) {
  return useQuery({
    queryKey: ["positions", "spot", owner?.userId],
    queryFn: owner
      ? ({ signal }) =>
          returned(
            owner.positions.GET("/api/pms/spot/{participantId}", {
              params: { path: { participantId: owner.userId } },
              signal,
            }),
          )
      : skipToken,
    refetchInterval: RESULTS_MS,
  });
}

/** What came of the fills on each market. */
export function useSpotMarkets({ positions, userId }: Owner) {
  return useQuery({
    queryKey: ["positions", "spot", userId, "markets"],
    queryFn: ({ signal }) =>
      returned(
        positions.GET("/api/pms/spot/{participantId}/markets", {
          params: { path: { participantId: userId } },
          signal,
        }),
      ),
    refetchInterval: RESULTS_MS,
  });
}

/** What is held of one asset, and what it cost: what is sold is not looked at, so a long history costs nothing. */
export function useSpotCost({ positions, userId }: Owner, asset: string) {
  return useQuery({
    queryKey: ["positions", "spot", userId, asset],
    queryFn: ({ signal }) =>
      returned(
        positions.GET("/api/pms/spot/{participantId}/{assetId}", {
          params: { path: { participantId: userId, assetId: asset } },
          signal,
        }),
      ),
    refetchInterval: RESULTS_MS,
  });
}

export function useTransfers({ positions, userId }: Owner) {
  return useInfiniteQuery({
    queryKey: ["positions", "transfers", userId],
    queryFn: ({ pageParam, signal }) => {
      const query = { participantId: userId, limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) };
      return slice(positions.GET("/api/pms/transfers", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: MARKED_MS,
  });
}

export function useCostBasis({ positions, userId }: Owner) {
  return useQuery({
    queryKey: ["positions", "basis", userId],
    queryFn: async ({ signal }) => {
      const call = positions.GET("/api/pms/fifo/{userId}", { params: { path: { userId } }, signal });
      // It is text in a file's format alone.
      return (await returned(call)) as CostBasis;
    },
  });
}

export function useLots({ positions, userId }: Owner, asset: string) {
  return useQuery({
    queryKey: ["positions", "lots", userId, asset],
    queryFn: ({ signal }) =>
      returned(
        positions.GET("/api/pms/fifo/{userId}/{currency}", {
          params: { path: { userId, currency: asset } },
          signal,
        }),
      ),
  });
}

/** The disposals of a tax year, as the service writes them into a file. */
export async function readTaxYear({ positions, userId }: Owner, taxYear: number): Promise<Blob> {
  return returned(
    positions.GET("/api/pms/fifo/{userId}", {
      params: { path: { userId }, query: { taxYear, format: "csv" } },
      parseAs: "blob",
    }),
  );
}

/** Send a file of transactions. A line that is known already changes nothing, so it may be sent again. */
export async function sendFile({ positions }: Owner, file: File): Promise<ImportReport> {
  return returned(
    positions.POST("/api/pms/fifo/transactions/import", {
      body: await file.text(),
      bodySerializer: (body: string) => body,
      headers: { "Content-Type": "text/csv" },
    }),
  );
}
