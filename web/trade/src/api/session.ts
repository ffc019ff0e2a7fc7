/**
 * Who is logged in. Tokens are kept in the browser's local storage, so that all tabs share one session: a refresh token
 * works once, and two tabs with a copy each would end the session. Nothing but scripts of this origin can read it, and
 * the page's policy allows no others.
 */
import { createStore, keep, readKept, useStore } from "#lib/store.ts";

export interface Session {
  userId: string;
  email: string;
  accessToken: string;
  refreshToken: string;
  /** When the access token ends, in milliseconds since 1970 by this computer's clock. */
  expiresAt: number;
}

/** Why there is no session any more. */
export type Ending = "logout" | "unconfirmed" | "expired" | "elsewhere" | "deleted";

export interface SessionState {
  session: Session | null;
  ending: Ending | null;
}

export interface Tokens {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  userId: string;
}

const KEY = "openspot.trade.session";
const storage = () => localStorage;

/** The session that a kept text holds, or null. */
export function readSession(text: string | null): Session | null {
  if (text === null) return null;
  try {
    const found = JSON.parse(text) as Partial<Record<keyof Session, unknown>> | null;
    const { userId, email, accessToken, refreshToken, expiresAt } = found ?? {};
    const texts = [userId, email, accessToken, refreshToken];
    if (texts.some((field) => typeof field !== "string" || field === "")) return null;
    return typeof expiresAt === "number" ? (found as Session) : null;
  } catch {
    return null;
  }
}

const store = createStore<SessionState>({ session: readSession(readKept(storage, KEY)), ending: null });

window.addEventListener("storage", (event) => {
  if (event.key !== KEY) return;
  const session = readSession(event.newValue);
  const { session: before } = store.get();
  store.set({ session, ending: session === null && before !== null ? "elsewhere" : null });
});

/** The session now, outside React. */
export function currentSession(): Session | null {
  return store.get().session;
}

/** The session, and why the last one ended. */
export function useSession(): SessionState {
  return useStore(store);
}

/** Call `listener` whenever the session begins, changes or ends, in this tab or another. */
export function onSessionChange(listener: () => void): () => void {
  return store.subscribe(listener);
}

/** Begin a session, or go on with new tokens. */
export function beginSession(tokens: Tokens, email: string): void {
  const session: Session = {
    userId: tokens.userId,
    email,
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken,
    expiresAt: Date.now() + tokens.expiresIn * 1000,
  };
  keep(storage, KEY, JSON.stringify(session));
  store.set({ session, ending: null });
}

let leaving: string | null = null;

/** Notes that a logout has begun: from now on the session is not renewed, even if a request is refused. */
export function leaveSession(): void {
  leaving = store.get().session?.refreshToken ?? null;
}

/** Whether a logout of this session is on its way. */
export function isLeaving(session: Session): boolean {
  return session.refreshToken === leaving;
}

/** End the session in all tabs. */
export function endSession(ending: Ending): void {
  keep(storage, KEY, null);
  store.set({ session: null, ending });
}

/** The session that another tab has stored meanwhile. */
export function keptSession(): Session | null {
  return readSession(readKept(storage, KEY)) ?? (canKeep() ? null : store.get().session);
}

function canKeep(): boolean {
  try {
    localStorage.getItem(KEY);
    return true;
  } catch {
    return false;
  }
}

/** Take over what another tab has renewed. */
export function adoptSession(session: Session): void {
  store.set({ session, ending: null });
}
