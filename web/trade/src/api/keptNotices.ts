/**
 * Notices, kept in this browser under the user's id, with what was read here: the edge keeps them for two weeks and does
 * not know who has read them. What stands there in another shape is ignored.
 */
import { createStore, keep, readKept, type Store, useStore } from "#lib/store.ts";
import { toastNews } from "#lib/components/toasts.tsx";
import type { Schemas } from "./client.ts";
import { isUrgent, type Notice, readNotice, readNotices, withNotice, withShownAmounts } from "./notices.ts";

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

/** Keep what the exchange has told a user just now, and show it once. The same notice may come twice. */
export function tell(userId: string, data: unknown): void {
  const notice = readNotice(data);
  if (!notice || notice.id === lastTold) return;
  lastTold = notice.id;
  change(userId, (notices) => withNotice(notices, { ...notice, isRead: false }));
  toastNews(withShownAmounts(notice.title), withShownAmounts(notice.text), { stays: isUrgent(notice.kind) });
}

/** Take in what the exchange has told the user, here or elsewhere. What this browser did not know is unread. */
export function learn(userId: string, told: readonly Schemas["NotificationResponse"][]): void {
  const known = new Set(
    storeOf(userId)
      .get()
      .map(({ id }) => id),
  );
  const added = told
    .filter(({ id }) => !known.has(id))
    .map((one) => readNotice({ ...one, createdAt: Date.parse(one.createdAt) }))
    .filter((notice) => notice !== null);
  if (added.length > 0) change(userId, (notices) => added.reduce<readonly Notice[]>(withNotice, notices));
}

let lastTold: string | null = null;

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
