/**
 * What the user's profile says of how pages are shown: the time zone, unless this browser has chosen another, and the
 * language. A language that is chosen on a page is kept in the profile, if need be when the profile is read next.
 */
import { hashKey, type QueryClient } from "@tanstack/react-query";
import { type Language, languageOf } from "#lib/language.ts";
import { onLanguageChoice, setAccountLanguage } from "#lib/languageChoice.ts";
import { setAccountZone } from "#lib/preferences.ts";
import { keep, readKept } from "#lib/store.ts";
import { type Exchange, returned, type Schemas } from "../api/client.ts";
import { RefusedError } from "../api/errors.ts";
import { currentSession, onSessionChange } from "../api/session.ts";
import { PROFILE, readProfile } from "./profile.ts";

const PROFILE_HASH = hashKey(PROFILE);
/** Who chose which language that the profile does not have yet. */
const UNTOLD_KEY = "openspot.language.untold";

const setUntold = (text: string | null) => keep(() => localStorage, UNTOLD_KEY, text);

function untoldOf(user: string | null): Language | null {
  const [by, language = ""] = (readKept(() => localStorage, UNTOLD_KEY) ?? "").split(" ");
  return by === user ? languageOf(language) : null;
}

/** Read the profile of each user who logs in, and follow its time zone and language. */
export function followProfile(exchange: Exchange, client: QueryClient): void {
  let user: string | null = null;
  const tell = (by: string, language: Language) => {
    setUntold(`${by} ${language}`);
    const forget = () => {
      if (untoldOf(by) === language) setUntold(null);
    };
    returned(exchange.rest.PATCH("/api/v1/users/me/profile", { body: { language } })).then(
      (profile) => {
        forget();
        if (by === user) client.setQueryData(PROFILE, profile);
      },
      (error: unknown) => {
        if (error instanceof RefusedError && error.status === 400) forget();
      },
    );
  };
  client.getQueryCache().subscribe(({ query, type }) => {
    if (type !== "updated" || query.queryHash !== PROFILE_HASH || query.state.status !== "success") return;
    const { timeZone, language } = query.state.data as Schemas["ProfileResponse"];
    setAccountZone(timeZone);
    const untold = untoldOf(user);
    if (untold === language) setUntold(null);
    else if (user !== null && untold !== null) tell(user, untold);
    void setAccountLanguage(untold ?? language);
  });
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
    const chooser = user;
    onLanguageChoice((language) => tell(chooser, language));
    void client
      .query({ queryKey: PROFILE, queryFn: ({ signal }) => readProfile(exchange, signal) })
      .catch(() => undefined);
  };
  onSessionChange(read);
  read();
}
