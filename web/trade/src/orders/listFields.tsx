/** What the order form asks for orders that depend on each other. Loaded with the list of all types. */
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { t } from "#lib/language.ts";
import type { Market } from "../api/queries.ts";
import type { Offer } from "./offer.ts";
import classes from "./OrderForm.module.css";
import type { Draft, Review } from "./draft.ts";
import { SourceChoice } from "./SourceChoice.tsx";

interface ListFieldsProps {
  market: Market;
  offer: Offer;
  draft: Draft;
  faults: Review["faults"];
  onDraft: (changes: Partial<Draft>) => void;
}

/** The stop that goes with a limit order. */
export function OcoFields({ market, offer, draft, faults, onDraft }: ListFieldsProps) {
  return (
    <>
      <DecimalField
        label={t("Stop price")}
        value={draft.stopPrice}
        error={faults.stopPrice}
        rightSection={<span className={classes.unit}>{market.quoteAsset}</span>}
        rightSectionWidth={64}
        onValue={(stopPrice) => onDraft({ stopPrice })}
      />
      <SourceChoice offer={offer} draft={draft} onDraft={onDraft} />
      <StopLimitField market={market} draft={draft} faults={faults} onDraft={onDraft} />
      {draft.stopLimit.trim() === "" && <SlippageField draft={draft} faults={faults} onDraft={onDraft} />}
    </>
  );
}

/** The exits that follow an entry. */
export function ExitFields({ market, offer, draft, faults, onDraft }: ListFieldsProps) {
  const unit = <span className={classes.unit}>{market.quoteAsset}</span>;
  return (
    <>
      <DecimalField
        label={t("Take profit at")}
        description={t("A limit order at this price. Empty: none.")}
        value={draft.takeProfit}
        error={faults.takeProfit}
        rightSection={unit}
        rightSectionWidth={64}
        onValue={(takeProfit) => onDraft({ takeProfit })}
      />
      <DecimalField
        label={t("Stop loss at")}
        description={t("An order once the price is there. Empty: none.")}
        value={draft.stopLoss}
        error={faults.stopLoss}
        rightSection={unit}
        rightSectionWidth={64}
        onValue={(stopLoss) => onDraft({ stopLoss })}
      />
      {draft.stopLoss.trim() !== "" && (
        <>
          <SourceChoice offer={offer} draft={draft} onDraft={onDraft} />
          <StopLimitField market={market} draft={draft} faults={faults} onDraft={onDraft} />
        </>
      )}
      {draft.type === "limit" && draft.stopLoss.trim() !== "" && draft.stopLimit.trim() === "" && (
        <SlippageField draft={draft} faults={faults} onDraft={onDraft} />
      )}
    </>
  );
}

function StopLimitField({ market, draft, faults, onDraft }: Omit<ListFieldsProps, "offer">) {
  return (
    <DecimalField
      label={t("Limit once it fires")}
      description={t("The worst price that the stop takes. Empty: a market order.")}
      value={draft.stopLimit}
      error={faults.stopLimit}
      rightSection={<span className={classes.unit}>{market.quoteAsset}</span>}
      rightSectionWidth={64}
      onValue={(stopLimit) => onDraft({ stopLimit })}
    />
  );
}

function SlippageField({ draft, faults, onDraft }: Omit<ListFieldsProps, "market" | "offer">) {
  return (
    <DecimalField
      label={t("Slippage at most")}
      description={t("Beyond this distance from the price that fires it nothing is traded.")}
      value={draft.slippage}
      error={faults.slippage}
      rightSection={<span className={classes.unit}>%</span>}
      onValue={(slippage) => onDraft({ slippage })}
    />
  );
}
