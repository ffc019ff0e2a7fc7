/** Queries of the account. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { returned, type Schemas, slice, useExchange } from "../api/client.ts";
import { whileUnreached } from "../api/errors.ts";
import { TOLD } from "../api/live.ts";
import { NOTICES_MAX } from "../api/notices.ts";
import { useSession } from "../api/session.ts";
import { PROFILE, readProfile } from "./profile.ts";

export type Verification = Schemas["KycStatusResponse"];

export const MFA = ["mfa"] as const;
export const SESSIONS = ["sessions"] as const;
export const ACTIVITY = ["activity"] as const;
export const KEYS = ["keys"] as const;
export const NOTIFICATIONS = ["notifications"] as const;
export const DEVICES = ["devices"] as const;
export const PUSH_KEY = ["pushKey"] as const;
export const VERIFICATION = ["verification"] as const;

const ACTIVITY_LIMIT = 25;
/** How often the state is read while documents are checked, because no event tells of the decision. */
const PENDING_MS = 10_000;

function useOwn<Data>(queryKey: readonly string[], queryFn: (signal: AbortSignal) => Promise<Data>) {
  const { session } = useSession();
  return useQuery({ queryKey, queryFn: ({ signal }) => queryFn(signal), enabled: session !== null });
}

export function useProfile() {
  const exchange = useExchange();
  return useOwn(PROFILE, (signal) => readProfile(exchange, signal));
}

export function useMfa() {
  const { rest } = useExchange();
  return useOwn(MFA, (signal) => returned(rest.GET("/api/v1/users/me/mfa", { signal })));
}

export function useSessions() {
  const { rest } = useExchange();
  return useOwn(SESSIONS, (signal) => returned(rest.GET("/api/v1/users/me/sessions", { signal })));
}

export function useActivity() {
  const { rest } = useExchange();
  const { session } = useSession();
  return useInfiniteQuery({
    queryKey: ACTIVITY,
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: ACTIVITY_LIMIT, ...(pageParam ? { cursor: pageParam } : {}) };
      return slice(rest.GET("/api/v1/users/me/activity", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    enabled: session !== null,
  });
}

/** The stored notices of a user, the newest first; asked for once `isWanted`. */
export function useTold(userId: string, isWanted: boolean) {
  const { rest } = useExchange();
  const params = { query: { limit: NOTICES_MAX } };
  return useQuery({
    queryKey: [...TOLD, userId],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/users/me/notifications", { params, signal })),
    enabled: isWanted,
  });
}

export function useApiKeys() {
  const { rest } = useExchange();
  return useOwn(KEYS, (signal) => returned(rest.GET("/api/v1/api-keys", { signal })));
}

export function useNotificationSettings() {
  const { rest } = useExchange();
  return useOwn(NOTIFICATIONS, (signal) => returned(rest.GET("/api/v1/settings/notifications", { signal })));
}

/** The devices that the user is notified on. */
export function useDevices() {
  const { rest } = useExchange();
  return useOwn(DEVICES, (signal) => returned(rest.GET("/api/v1/push-subscriptions", { signal })));
}

/** The key that a browser subscribes with. */
export function usePushKey() {
  const { rest } = useExchange();
  return useOwn(PUSH_KEY, (signal) => returned(rest.GET("/api/v1/push-subscriptions/key", { signal })));
}

export const DOCUMENTS = ["kycDocuments"] as const;

/** The documents of the open check; `provider` is null where people of the exchange look at them. */
export function useDocuments(isWanted = true) {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: DOCUMENTS,
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/kyc/documents", { signal })),
    enabled: session !== null && isWanted,
  });
}

const OPEN_CHECKS: ReadonlySet<string> = new Set(["pending", "on_hold"]);

export function useVerification() {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: VERIFICATION,
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/kyc/status", { signal })),
    enabled: session !== null,
    refetchInterval: (query) =>
      query.state.data && OPEN_CHECKS.has(query.state.data.status) ? PENDING_MS : whileUnreached(query),
  });
}
