/**
 * Notices, kept in this browser under the user's id: a toast is soon gone, and the edge keeps nothing. What stands there
 * in another shape is ignored.
 */
import { createStore, keep, readKept, type Store, useStore } from "#lib/store.ts";
import { type Notice, readNotice, readNotices, withNotice } from "./notices.ts";

const KEY = "openspot.trade.notices.";
const storage = () => localStorage;

const stores = new Map<string, Store<readonly Notice[]>>();

function storeOf(userId: string): Store<readonly Notice[]> {
  let store = stores.get(userId);
  if (!store) {
    store = createStore<readonly Notice[]>(readNotices(readKept(storage, KEY + userId)));
    stores.set(userId, store);
  }
  return store;
}

/** Change what is kept, beginning with what another tab has kept meanwhile. */
function change(userId: string, changed: (notices: readonly Notice[]) => readonly Notice[]): void {
  const store = storeOf(userId);
  const kept = readKept(storage, KEY + userId);
  const notices = changed(kept === null ? store.get() : readNotices(kept));
  keep(storage, KEY + userId, JSON.stringify(notices));
  store.set(notices);
}

/** Keep what the exchange has told a user just now. */
export function takeNotice(userId: string, data: unknown): void {
  const notice = readNotice(data);
  if (notice) change(userId, (notices) => withNotice(notices, { ...notice, isRead: false }));
}

/** The user has seen all of them. */
export function markNoticesRead(userId: string): void {
  if (
    storeOf(userId)
      .get()
      .every(({ isRead }) => isRead)
  )
    return;
  change(userId, (notices) => notices.map((notice) => ({ ...notice, isRead: true })));
}

/** The notices of a user, newest first. */
export function useNotices(userId: string): readonly Notice[] {
  return useStore(storeOf(userId));
}

globalThis.addEventListener("storage", ({ key, newValue }) => {
  if (key?.startsWith(KEY)) stores.get(key.slice(KEY.length))?.set(readNotices(newValue));
});
