/** The operator's session with the engine: who is logged in, until when, and why nobody is. */
import { createStore, keep, readKept, useStore } from "#lib/store.ts";

/** Types whose sessions the console accepts (Document A 5.7). */
export const ADMINISTRATORS: readonly string[] = ["SUPER_ADMIN", "SYSTEM"];

export interface Session {
  token: string;
  participantId: string;
  name: string;
  type: string;
  /** Milliseconds since 1970, by the engine's clock. */
  expiresAt: number;
}

/** Why a session ended: by the operator, with or without the engine's word, by its time, or by the engine. */
export type Ending = "logout" | "unconfirmed" | "expired" | "refused";

export interface SessionState {
  session: Session | null;
  ending: Ending | null;
}

const KEY = "openspot.console.session";
/** Kept for this tab alone, so that it ends with the tab. */
const storage = () => sessionStorage;

/** The session that a kept text holds, unless it is none or has expired at `now`. */
export function readSession(text: string | null, now: number): Session | null {
  if (text === null) return null;
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof content !== "object" || content === null) return null;
  const { token, participantId, name, type, expiresAt } = content as Partial<Record<keyof Session, unknown>>;
  if (typeof token !== "string" || typeof participantId !== "string" || typeof name !== "string") return null;
  if (typeof type !== "string" || !ADMINISTRATORS.includes(type)) return null;
  if (typeof expiresAt !== "number" || expiresAt <= now) return null;
  return { token, participantId, name, type, expiresAt };
}

function keptState(): SessionState {
  const text = readKept(storage, KEY);
  const session = readSession(text, Date.now());
  return { session, ending: session === null && text !== null ? "expired" : null };
}

const store = createStore<SessionState>(keptState());

/** The session now, outside React. */
export function currentSession(): Session | null {
  return store.get().session;
}

/** The session, and why the last one ended. */
export function useSession(): SessionState {
  return useStore(store);
}

/** Begin a session, or replace the one that there is. */
export function beginSession(session: Session): void {
  keep(storage, KEY, JSON.stringify(session));
  store.set({ session, ending: null });
}

/** End the session of `token`. A newer one stays: a late answer to an old token must not end it. */
export function endSession(token: string, ending: Ending): void {
  if (currentSession()?.token !== token) return;
  keep(storage, KEY, null);
  store.set({ session: null, ending });
}

/** Call `listener` whenever the session begins or ends. */
export function onSessionChange(listener: () => void): () => void {
  return store.subscribe(listener);
}

/** The participant that is logged in, for what stands in the log. */
export function useOperator(): string {
  return useSession().session?.participantId ?? "";
}
