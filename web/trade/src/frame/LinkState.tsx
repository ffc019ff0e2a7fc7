import { StatusPill } from "#lib/components/StatusPill.tsx";
import { t, texts } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import { formatClock } from "#lib/time.ts";
import { useLink } from "../api/live.ts";
import type { LinkState as State } from "../stream/connection.ts";

const SHOWN = texts({
  connecting: { tone: "warning", word: "Connecting", meaning: "Waiting for the exchange." },
  live: { tone: "positive", word: "Live", meaning: "Prices and orders come as they happen." },
  silent: { tone: "warning", word: "Silent", meaning: "Connected, but nothing comes: prices may be old." },
  broken: {
    tone: "negative",
    word: "Reconnecting",
    meaning: "No connection: prices are old. The page tries again by itself.",
  },
} as const satisfies Record<State, object>);

/** Whether what the page shows is of now, in a word. */
export function LinkState() {
  const { state, heardAt } = useLink();
  const zone = useZone();
  const { tone, word, meaning } = SHOWN[state];
  const since =
    heardAt > 0 && state !== "live"
      ? " " + t("Last message at {heardAt}.", { heardAt: formatClock(heardAt, zone) })
      : "";
  return <StatusPill tone={tone} word={t(word)} meaning={t(meaning) + since} />;
}
