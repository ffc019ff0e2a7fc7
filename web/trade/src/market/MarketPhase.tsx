import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import type { Ticker } from "../api/queries.ts";
import classes from "./MarketPhase.module.css";

const WORDS: Record<NonNullable<Ticker["phase"]>, { title: string; text: string }> = {
  halted: { title: "Halted", text: "Orders can only be cancelled." },
  "cancel-only": { title: "Cancel-only", text: "Open orders can be cancelled and made smaller." },
  "post-only": { title: "Post-only", text: "Only post-only orders and stops are taken." },
  auction: { title: "Auction", text: "Limit orders collect, and trade at one price when it ends." },
  uncrossing: { title: "Auction", text: "The auction is being traded." },
};

/** Beside the name of a market that is not in continuous trading: what it takes, and what an auction would trade. */
export function MarketPhase({
  ticker: { phase, indicativePrice, indicativeQuantity },
  places,
  unit,
}: {
  ticker: Ticker;
  places: number;
  unit: string | undefined;
}) {
  if (!phase) return null;
  return (
    <div className={classes.phase} role="status">
      <Badge tone="warning" shape="■">
        {WORDS[phase].title}
      </Badge>
      <span className={classes.text}>
        {indicativePrice && indicativeQuantity ? (
          <>
            It would trade <Amount value={indicativeQuantity} unit={unit} /> at{" "}
            <Amount value={indicativePrice} places={places} />.
          </>
        ) : (
          WORDS[phase].text
        )}
      </span>
    </div>
  );
}
