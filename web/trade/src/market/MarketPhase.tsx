import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import { rich, t, texts } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import { useNow } from "#lib/useNow.ts";
import type { Ticker } from "../api/queries.ts";
import classes from "./MarketPhase.module.css";
import { isInterruption, phaseTitle } from "./phase.ts";

const MINUTE_MS = 60_000;
const TEXTS: Readonly<Record<NonNullable<Ticker["phase"]>, string>> = texts({
  halted: "Orders can only be cancelled.",
  "cancel-only": "Open orders can be cancelled and made smaller.",
  "post-only": "Only post-only orders and stops are taken.",
  auction: "Limit orders collect, and trade at one price when it ends.",
  uncrossing: "The auction is being traded.",
});

/** Beside the name of a market that is not in continuous trading: what it takes, until when, and what would trade. */
export default function MarketPhase({
  ticker,
  places,
  unit,
}: {
  ticker: Ticker;
  places: number;
  unit: string | undefined;
}) {
  const zone = useZone();
  const now = useNow(MINUTE_MS);
  const { phase, indicativePrice, indicativeQuantity } = ticker;
  if (!phase) return null;
  return (
    <div className={classes.phase} role="status">
      <Badge tone="warning" shape="■">
        {phaseTitle({ ...ticker, phase }, zone, now)}
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
            {isInterruption(ticker) && `${t("The fair price moved fast.")} `}
            {t(TEXTS[phase])}
          </>
        )}
      </span>
    </div>
  );
}
