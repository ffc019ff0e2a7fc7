/** What the sign of a market says that is not in continuous trading. Pure. */
import { t } from "#lib/language.ts";
import { formatClock, formatDay, formatTime } from "#lib/time.ts";
import type { Ticker } from "../api/queries.ts";

type PhaseFacts = Pick<Ticker, "phase" | "phaseCause" | "phaseEndsAt">;
type Phase = NonNullable<Ticker["phase"]>;

/** Whether the exchange itself has begun the auction, as the price moved fast. */
export const isInterruption = ({ phase, phaseCause }: PhaseFacts): boolean =>
  phase === "auction" && Boolean(phaseCause);

/** The phase by name, and until when it lasts if an end is set: with the day, unless that is today. */
export function phaseTitle(facts: PhaseFacts & { phase: Phase }, zone: string, now: number): string {
  const { phase, phaseEndsAt } = facts;
  // What an auction has to trade is traded however long that takes.
  if (!phaseEndsAt || phase === "uncrossing") return untimed(phase);
  const isToday = formatDay(phaseEndsAt, zone) === formatDay(now, zone);
  const time = (isToday ? formatClock : formatTime)(phaseEndsAt, zone);
  if (isInterruption(facts)) return t("Volatility auction until {time}", { time });
  switch (phase) {
    case "halted":
      return t("Halted until {time}", { time });
    case "cancel-only":
      return t("Cancel-only until {time}", { time });
    case "post-only":
      return t("Post-only until {time}", { time });
    case "auction":
      return t("Auction until {time}", { time });
  }
}

function untimed(phase: Phase): string {
  switch (phase) {
    case "halted":
      return t("Halted");
    case "cancel-only":
      return t("Cancel-only");
    case "post-only":
      return t("Post-only");
    case "auction":
    case "uncrossing":
      return t("Auction");
  }
}
