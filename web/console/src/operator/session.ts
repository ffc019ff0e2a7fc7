/**
 * Who the operator is. A tab may have two sessions: one with the engine (`engine/session.ts`), which opens everything,
 * and one of a user of the REST edge, which opens what the user's roles allow. Where there are both, the user's signs the
 * calls of REST edge and web server, so that the trail names a person; the engine's own pages always need the engine's.
 */
import type { components } from "#gen/openapi/rest-edge.ts";
import { createStore, keep, readKept, useStore } from "#lib/store.ts";
import { currentSession, useSession } from "../engine/session.ts";

type Schemas = components["schemas"];
export type Permission = Schemas["Permission"];
export type OperatorRole = Schemas["OperatorRole"];

/** A session of a user who is an operator. */
export interface UserSession {
  userId: string;
  email: string;
  accessToken: string;
  refreshToken: string;
  /** When the access token ends, in milliseconds since 1970 by this computer's clock. */
  expiresAt: number;
  /** The name in the trail. */
  operator: string;
  roles: readonly OperatorRole[];
  permissions: readonly Permission[];
}

/** Why a user's session ended: by the operator, with or without the edge's word, by the edge, or with the last role. */
export type UserEnding = "logout" | "unconfirmed" | "refused" | "demoted";

export interface UserSessionState {
  session: UserSession | null;
  ending: UserEnding | null;
}

const KEY = "openspot.console.operator";
/** Kept for this tab alone, so that it ends with the tab. */
const storage = () => sessionStorage;

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** The session that a kept text holds, or null. */
export function readUserSession(text: string | null): UserSession | null {
  if (text === null) return null;
  try {
    const found = JSON.parse(text) as Partial<Record<keyof UserSession, unknown>> | null;
    const { userId, email, accessToken, refreshToken, operator, expiresAt, roles, permissions } = found ?? {};
    const texts = [userId, email, accessToken, refreshToken, operator];
    if (texts.some((field) => typeof field !== "string" || field === "")) return null;
    if (!isTextList(roles) || !isTextList(permissions)) return null;
    return typeof expiresAt === "number" ? (found as UserSession) : null;
  } catch {
    return null;
  }
}

const store = createStore<UserSessionState>({
  session: readUserSession(readKept(storage, KEY)),
  ending: null,
});

/** The user's session now, outside React. */
export function currentUserSession(): UserSession | null {
  return store.get().session;
}

/** The user's session, and why the last one ended. */
export function useUserSession(): UserSessionState {
  return useStore(store);
}

/** Begin a user's session, or go on with other tokens or permissions. */
export function keepUserSession(session: UserSession): void {
  keep(storage, KEY, JSON.stringify(session));
  store.set({ session, ending: null });
}

/** End the session with this refresh token. A newer one stays: a late answer must not end it. */
export function endUserSession(refreshToken: string, ending: UserEnding): void {
  if (currentUserSession()?.refreshToken !== refreshToken) return;
  keep(storage, KEY, null);
  store.set({ session: null, ending });
}

/** Call `listener` whenever the user's session begins, changes or ends. */
export function onUserSessionChange(listener: () => void): () => void {
  return store.subscribe(listener);
}

/** Whether the tab's sessions have a permission, outside React: the user's if there is one, else the engine's. */
export function can(permission: Permission): boolean {
  const user = currentUserSession();
  return user === null ? currentSession() !== null : user.permissions.includes(permission);
}

/** Whether the tab's sessions have a permission. */
export function useCan(): (permission: Permission) => boolean {
  const { session } = useUserSession();
  const engine = useSession().session;
  return (permission) => (session === null ? engine !== null : session.permissions.includes(permission));
}

/** Who acts at REST edge, web server and custody: the user, or the participant of the engine. */
export function useActingName(): string {
  const { session } = useUserSession();
  const engine = useSession().session;
  return session?.operator ?? engine?.participantId ?? "";
}
