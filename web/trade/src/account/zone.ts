/** The time zone of the user's profile: times are shown in it unless this browser has chosen another. */
import { hashKey, type QueryClient } from "@tanstack/react-query";
import { setAccountZone } from "#lib/preferences.ts";
import type { Exchange, Schemas } from "../api/client.ts";
import { currentSession, onSessionChange } from "../api/session.ts";
import { PROFILE, readProfile } from "./queries.ts";

const PROFILE_HASH = hashKey(PROFILE);

/** Read the profile of each user who logs in, and follow its time zone. */
export function followZone(exchange: Exchange, client: QueryClient): void {
  client.getQueryCache().subscribe(({ query, type }) => {
    if (type !== "updated" || query.queryHash !== PROFILE_HASH || query.state.status !== "success") return;
    setAccountZone((query.state.data as Schemas["ProfileResponse"]).timeZone);
  });
  let user: string | null = null;
  const read = () => {
    const next = currentSession()?.userId ?? null;
    if (next === user) return;
    user = next;
    if (user === null) setAccountZone(null);
    else
      void client
        .query({ queryKey: PROFILE, queryFn: ({ signal }) => readProfile(exchange, signal) })
        .catch(() => undefined);
  };
  onSessionChange(read);
  read();
}
