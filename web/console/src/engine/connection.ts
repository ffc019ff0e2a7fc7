/** Whether the engine responds, as the last call showed. */
import { createStore, useStore } from "#lib/store.ts";

export interface Connection {
  isReachable: boolean;
  /** When it last responded, or 0. */
  respondedAt: number;
}

const store = createStore<Connection>({ isReachable: true, respondedAt: 0 });

export function useConnection(): Connection {
  return useStore(store);
}

/** Note that the engine responded. */
export function noteResponse(): void {
  const now = Date.now();
  // Once a second is enough for people.
  if (!store.get().isReachable || now - store.get().respondedAt >= 1000) {
    store.set({ isReachable: true, respondedAt: now });
  }
}

/** Note that a call found no engine. */
export function noteSilence(): void {
  if (store.get().isReachable) store.set({ ...store.get(), isReachable: false });
}
