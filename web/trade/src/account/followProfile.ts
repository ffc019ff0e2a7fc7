/**
 * What the user's profile says of how pages are shown: the time zone, unless this browser has chosen another, and the
 * language. A language that is chosen on a page is kept in the profile.
 */
import { hashKey, type QueryClient } from "@tanstack/react-query";
import { onLanguageChoice, setAccountLanguage } from "#lib/languageChoice.ts";
import { setAccountZone } from "#lib/preferences.ts";
import { type Exchange, returned, type Schemas } from "../api/client.ts";
import { currentSession, onSessionChange } from "../api/session.ts";
import { PROFILE, readProfile } from "./queries.ts";

const PROFILE_HASH = hashKey(PROFILE);

/** Read the profile of each user who logs in, and follow its time zone and language. */
export function followProfile(exchange: Exchange, client: QueryClient): void {
  client.getQueryCache().subscribe(({ query, type }) => {
    if (type !== "updated" || query.queryHash !== PROFILE_HASH || query.state.status !== "success") return;
    const { timeZone, language } = query.state.data as Schemas["ProfileResponse"];
    setAccountZone(timeZone);
    void setAccountLanguage(language);
  });
  let user: string | null = null;
  const read = () => {
    const next = currentSession()?.userId ?? null;
    if (next === user) return;
    user = next;
    if (user === null) {
      setAccountZone(null);
      onLanguageChoice(null);
      void setAccountLanguage(null);
      return;
    }
    onLanguageChoice((language) => {
      returned(exchange.rest.PATCH("/api/v1/users/me/profile", { body: { language } }))
        .then((profile) => client.setQueryData(PROFILE, profile))
        .catch(() => undefined);
    });
    void client
      .query({ queryKey: PROFILE, queryFn: ({ signal }) => readProfile(exchange, signal) })
      .catch(() => undefined);
  };
  onSessionChange(read);
  read();
}
