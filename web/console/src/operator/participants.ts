/** Participants of the engine as operators see them at the REST edge, without a session with the engine. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Page } from "#lib/paging.ts";
import { type Edge, returned, type Schemas, useEdge } from "./client.ts";
import { type Permission, useUserSession } from "./session.ts";

const LIST_INTERVAL_MS = 5_000;

export type ParticipantState = Schemas["ParticipantState"]["state"];
export type OperatedParticipant = Schemas["ParticipantView"];

/**
 * Who shows what the engine and the REST edge both can: the edge, where the user's roles allow it; else the engine, to
 * its own session.
 */
export function useSource(permission: Permission): "edge" | "engine" {
  const { session } = useUserSession();
  return session?.permissions.includes(permission) === true ? "edge" : "engine";
}

/** A page of all participants, in the order in which their accounts were made. */
export function useOperatedParticipants(page: Page, isEnabled: boolean) {
  const { rest } = useEdge();
  const query = { limit: page.size, offset: page.index * page.size };
  return useQuery({
    queryKey: ["participants", "edge", page],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/operator/participants", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: LIST_INTERVAL_MS,
    enabled: isEnabled,
  });
}

/** One participant. */
export function useOperatedParticipant(participantId: string, isEnabled: boolean) {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["participants", "edge", participantId],
    queryFn: ({ signal }) =>
      returned(
        rest.GET("/api/v1/operator/participants/{participantId}", {
          params: { path: { participantId } },
          signal,
        }),
      ),
    refetchInterval: LIST_INTERVAL_MS,
    enabled: isEnabled,
  });
}

/** Balances of a participant or of all; with a currency those in it, the largest first. An empty text filters nothing. */
export function useOperatedBalances(participantId: string, currency: string, isEnabled: boolean) {
  const { rest } = useEdge();
  const query = {
    ...(participantId === "" ? {} : { participantId }),
    ...(currency === "" ? {} : { currency }),
  };
  return useQuery({
    queryKey: ["balances", "edge", query],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/balances", { params: { query }, signal })),
    refetchInterval: LIST_INTERVAL_MS,
    enabled: isEnabled,
  });
}

/** The balances of which open orders lock the largest share, of one participant or of all. */
export function useOperatedRisk(participantId: string, isEnabled: boolean) {
  const { rest } = useEdge();
  const query = participantId === "" ? {} : { participantId };
  return useQuery({
    queryKey: ["risk", "edge", participantId],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/risk", { params: { query }, signal })),
    refetchInterval: LIST_INTERVAL_MS,
    enabled: isEnabled,
  });
}

/** Refuse a participant's new orders. Rejects with EdgeError. */
export function freeze({ rest }: Edge, participantId: string, reason: string) {
  return returned(
    rest.PUT("/api/v1/operator/participants/{participantId}/freeze", {
      params: { path: { participantId } },
      body: { reason },
    }),
  );
}

/** Take new orders of a frozen participant again. Rejects with EdgeError. */
export function unfreeze({ rest }: Edge, participantId: string, reason: string) {
  return returned(
    rest.DELETE("/api/v1/operator/participants/{participantId}/freeze", {
      params: { path: { participantId } },
      body: { reason },
    }),
  );
}
