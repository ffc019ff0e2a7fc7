/** Requests that must not be carried out twice, kept above the forms that send them. */
import { useEffect } from "react";
import { createStore, type Store, useStore } from "#lib/store.ts";
import { attemptKey } from "./client.ts";
import { isRefusal } from "./errors.ts";

/** A request that is on its way, or whose outcome is not known, or that was refused while nobody has read why. */
export interface Attempt {
  /** What the user asked for. */
  asked: string;
  key: string;
  body: unknown;
  state: "pending" | "unknown" | "refused";
  error: Error | null;
}

export type Attempts = Store<Attempt | null>;

const places = new Map<string, Attempts>();

/** The newest attempt at a place, such as a form of one user and market. It outlives the form. */
export function attemptsAt(place: string): Attempts {
  const attempts = places.get(place) ?? createStore<Attempt | null>(null);
  places.set(place, attempts);
  return attempts;
}

/** What was asked for at a place by a request that is on its way, or whose outcome is not known; null without one. */
export function unknownAt(place: string): string | null {
  const last = places.get(place)?.get() ?? null;
  return last === null || last.state === "refused" ? null : last.asked;
}

/**
 * Sends `body` with a key of its own. While an attempt is not known to have failed, who asks for the same sends the
 * same body with the same key, whatever `body` is by now. Throws what `send` throws.
 */
export async function attempt<Body, Data>(
  attempts: Attempts,
  asked: string,
  body: Body,
  send: (body: Body, key: string) => Promise<Data>,
): Promise<Data> {
  const last = attempts.get();
  const isRepeated = last?.asked === asked && last.state !== "refused";
  const begun = isRepeated ? last : { asked, key: attemptKey(), body };
  attempts.set({ ...begun, state: "pending", error: null });
  try {
    const data = await send(begun.body as Body, begun.key);
    attempts.set(null);
    return data;
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    attempts.set({ ...begun, state: isRefusal(error, isRepeated) ? "refused" : "unknown", error });
    throw error;
  }
}

/** The newest attempt. Why it was refused is read once the component is gone. */
export function useAttempt(attempts: Attempts): Attempt | null {
  useEffect(
    () => () => {
      if (attempts.get()?.state === "refused") attempts.set(null);
    },
    [attempts],
  );
  return useStore(attempts);
}
