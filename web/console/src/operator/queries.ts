/** What the console reads of operators and their trail, and what it changes. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Schemas, returned, slice, useEdge } from "./client.ts";
import { type OperatorRole, useUserSession } from "./session.ts";

const LIST_INTERVAL_MS = 5_000;
const PERMISSIONS_INTERVAL_MS = 30_000;

export type OperatorUser = Schemas["OperatorResponse"];
export type OperatorSession = Schemas["OperatorSessionEntry"];
export type TrailEntry = Schemas["TrailEntry"];

/** Read anew now and then what the user's session may do. */
export function usePermissionRefresh(): void {
  const edge = useEdge();
  const { session } = useUserSession();
  useQuery({
    queryKey: ["own permissions"],
    queryFn: async () => {
      await edge.refreshPermissions();
      return null;
    },
    refetchInterval: PERMISSIONS_INTERVAL_MS,
    enabled: session !== null,
  });
}

/** Every role with its permissions. */
export function useRoles() {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["roles"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/roles", { signal })),
    staleTime: Infinity,
  });
}

/** The users who are operators. */
export function useOperators() {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["operators", "users"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/operators", { signal })),
    refetchInterval: LIST_INTERVAL_MS,
  });
}

/** The sessions of users who are operators. */
export function useOperatorSessions() {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["operators", "sessions"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/sessions", { signal })),
    refetchInterval: LIST_INTERVAL_MS,
  });
}

/** A change of operators. `onDone` is called after it. */
function useOperatorChange<Change>(send: (change: Change) => Promise<unknown>, onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: onDone,
    onSettled: () => client.invalidateQueries({ queryKey: ["operators"] }),
  });
}

/** Make a user an operator. */
export function useNewOperator(onDone: () => void) {
  const { rest } = useEdge();
  return useOperatorChange(
    (body: Schemas["NewOperatorBody"]) => returned(rest.POST("/api/v1/operator/operators", { body })),
    onDone,
  );
}

/** Give an operator other roles, if the present ones are those that were shown. */
export function useRoleChange(operator: OperatorUser, onDone: () => void) {
  const { rest } = useEdge();
  return useOperatorChange(
    ({ roles, reason }: { roles: OperatorRole[]; reason: string }) =>
      returned(
        rest.PUT("/api/v1/operator/operators/{userId}/roles", {
          params: { path: { userId: operator.userId } },
          body: { roles, expected: operator.roles, reason },
        }),
      ),
    onDone,
  );
}

/** End a session of an operator. */
export function useSessionEnd(sessionId: string, onDone: () => void) {
  const { rest } = useEdge();
  return useOperatorChange(
    (reason: string) =>
      returned(
        rest.POST("/api/v1/operator/sessions/{sessionId}/end", {
          params: { path: { sessionId } },
          body: { reason },
        }),
      ),
    onDone,
  );
}

/** Which entries of the trail; an empty text admits all. `from` and `to` are days in UTC, such as 2026-01-31. */
export interface TrailFilter {
  operator: string;
  action: string;
  subjectId: string;
  from: string;
  to: string;
}

/** The parameters of a filter, without the empty ones. */
export function parametersOf(filter: TrailFilter): Partial<TrailFilter> {
  const { from, to, ...words } = filter;
  const begin = (day: string) => (day === "" ? "" : `${day}T00:00:00Z`);
  const all = Object.entries({ ...words, from: begin(from), to: begin(to) });
  return Object.fromEntries(all.filter(([, value]) => value !== ""));
}

/** The day after a day such as 2026-01-31; the day itself where it is none. */
export function dayAfter(day: string): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? day : new Date(time + 86_400_000).toISOString().slice(0, 10);
}

/** A page of the trail, newest first. */
export function useTrail(filter: TrailFilter, cursor: string) {
  const { rest } = useEdge();
  const query = { ...parametersOf(filter), limit: 50, ...(cursor === "" ? {} : { cursor }) };
  return useQuery({
    queryKey: ["trail", query],
    queryFn: ({ signal }) => slice(rest.GET("/api/v1/operator/trail", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: LIST_INTERVAL_MS,
  });
}
