import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { t } from "#lib/language.ts";
import { ONE, readScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import { PercentButtons } from "../parts/PercentButtons.tsx";
import { LEVERAGE_MAX } from "./figures.ts";
import { QuantityField, SideChoice, stepKeys, Submit } from "./FormParts.tsx";
import classes from "./Margin.module.css";
import { OpenDialog, openingAction } from "./OpenDialog.tsx";
import { type OpeningDraft, partOfMargin, reviewOpening } from "./opening.ts";
import { OpeningFigures } from "./OpeningFigures.tsx";
import type { MarginAccount } from "./queries.ts";

const LEVERAGES = ["1", "2", "3", "5", "10"] as const;

interface OpeningFormProps {
  market: Market | undefined;
  account: MarginAccount;
  draft: OpeningDraft;
  onDraft: (changes: Partial<OpeningDraft>) => void;
  /** A position was opened. */
  onPlaced?: (() => void) | undefined;
  /** What stands above the side. */
  lead?: ReactNode;
  /** What stands below the quantity. */
  options?: ReactNode;
  /** What stands between the figures and the button. */
  notes?: ReactNode;
}

/** Opens a position at the market price. Shows margin, loan and risk before the user confirms. */
export function OpeningForm({
  market,
  account,
  draft,
  onDraft,
  onPlaced,
  lead,
  options,
  notes,
}: OpeningFormProps) {
  const [asks, setAsks] = useState(false);
  const facts = { market, account };
  const { faults, blocked, estimate, body } = reviewOpening(draft, facts);
  const setLeverage = (next: string) => {
    const isTooMuch = (readScaled(next) ?? 0n) > LEVERAGE_MAX * ONE;
    onDraft({ leverage: isTooMuch ? LEVERAGE_MAX.toString() : next });
  };
  return (
    <>
      <form
        className={classes.form}
        aria-label={t("Open a position")}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked === null) setAsks(true);
        }}
      >
        {lead}
        <SideChoice
          side={draft.side}
          buy={t("Buy, long")}
          sell={t("Sell, short")}
          onSide={(side) => onDraft({ side })}
        />
        <DecimalField
          label={t("Leverage")}
          description={t("How many times your own margin the position is worth, from 1 to {leverageMax}.", {
            leverageMax: LEVERAGE_MAX,
          })}
          value={draft.leverage}
          error={faults.leverage}
          rightSection={<span className={classes.unit}>×</span>}
          onValue={(leverage) => onDraft({ leverage })}
          onKeyDown={stepKeys(draft.leverage, "1", setLeverage)}
        />
        <div className={classes.leverages} role="group" aria-label={t("Usual leverages")}>
          {LEVERAGES.map((leverage) => (
            <Button
              key={leverage}
              size="compact-xs"
              variant="default"
              aria-pressed={draft.leverage.trim() === leverage}
              onClick={() => onDraft({ leverage })}
            >
              {leverage} ×
            </Button>
          ))}
        </div>
        <QuantityField
          market={market}
          value={draft.quantity}
          error={faults.quantity}
          onValue={(quantity) => onDraft({ quantity })}
        />
        <PercentButtons
          of={t("what your margin carries")}
          disabled={partOfMargin(draft, facts, 100n) === null}
          onPercent={(percent) => {
            const quantity = partOfMargin(draft, facts, percent);
            if (quantity !== null) onDraft({ quantity });
          }}
        />
        {options}
        <OpeningFigures
          side={draft.side}
          estimate={estimate}
          account={account}
          quote={market?.quoteAsset ?? ""}
        />
        {notes}
        <Submit
          side={draft.side}
          action={openingAction(draft.side)}
          blocked={blocked}
          note={t(
            "It trades at the market, so the price may be worse than the fair one; beyond the exchange’s limit nothing is traded. What was borrowed for that and not needed is repaid at once.",
          )}
        />
      </form>
      {asks && estimate && body && (
        <OpenDialog
          body={body}
          estimate={estimate}
          account={account}
          blocked={blocked}
          onDone={() => {
            onDraft({ quantity: "" });
            onPlaced?.();
          }}
          onClose={() => setAsks(false)}
        />
      )}
    </>
  );
}
