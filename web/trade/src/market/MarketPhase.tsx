import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import { rich, t } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import { formatClock } from "#lib/time.ts";
import type { Ticker } from "../api/queries.ts";
import classes from "./MarketPhase.module.css";

const WORDS: Record<NonNullable<Ticker["phase"]>, { title: string; text: string }> = {
  halted: {
    get title() {
      return t("Halted");
    },
    get text() {
      return t("Orders can only be cancelled.");
    },
  },
  "cancel-only": {
    get title() {
      return t("Cancel-only");
    },
    get text() {
      return t("Open orders can be cancelled and made smaller.");
    },
  },
  "post-only": {
    get title() {
      return t("Post-only");
    },
    get text() {
      return t("Only post-only orders and stops are taken.");
    },
  },
  auction: {
    get title() {
      return t("Auction");
    },
    get text() {
      return t("Limit orders collect, and trade at one price when it ends.");
    },
  },
  uncrossing: {
    get title() {
      return t("Auction");
    },
    get text() {
      return t("The auction is being traded.");
    },
  },
};

/** Beside the name of a market that is not in continuous trading: what it takes, and what an auction would trade. */
export default function MarketPhase({
  ticker: { phase, phaseCause, phaseEndsAt, indicativePrice, indicativeQuantity },
  places,
  unit,
}: {
  ticker: Ticker;
  places: number;
  unit: string | undefined;
}) {
  const zone = useZone();
  if (!phase) return null;
  const isInterrupted = phase === "auction" && phaseCause && phaseEndsAt;
  return (
    <div className={classes.phase} role="status">
      <Badge tone="warning" shape="■">
        {isInterrupted
          ? t("Volatility auction until {time}", { time: formatClock(phaseEndsAt, zone) })
          : WORDS[phase].title}
      </Badge>
      <span className={classes.text}>
        {indicativePrice && indicativeQuantity ? (
          <>
            {rich("It would trade {indicativeQuantity} at {indicativePrice}.", {
              indicativeQuantity: <Amount value={indicativeQuantity} unit={unit} />,
              indicativePrice: <Amount value={indicativePrice} places={places} />,
            })}
          </>
        ) : (
          <>
            {isInterrupted && `${t("The fair price moved fast.")} `}
            {WORDS[phase].text}
          </>
        )}
      </span>
    </div>
  );
}
