import { Checkbox, SegmentedControl, Select } from "@mantine/core";
import { type KeyboardEvent, memo } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import type { Market, TradingRules } from "../api/queries.ts";
import { PercentButtons } from "../parts/PercentButtons.tsx";
import classes from "./OrderForm.module.css";
import type { Draft } from "./review.ts";

interface OrderFieldsProps {
  market: Market;
  /** What an order may ask for; undefined before it is known. */
  rules: TradingRules | undefined;
  draft: Draft;
  priceFault: string | undefined;
  amountFault: string | undefined;
  slippageFault: string | undefined;
  hasFunds: boolean;
  onDraft: (changes: Partial<Draft>) => void;
  /** An arrow key moves a field by so many steps. */
  onStep: (draft: Draft, field: "price" | "amount", by: bigint) => void;
  /** So many percent of what is free are wanted. */
  onPart: (draft: Draft, percent: bigint) => void;
}

const SIDES = [
  { value: "buy", label: "Buy" },
  { value: "sell", label: "Sell" },
];
const TYPES = [
  { value: "limit", label: "Limit" },
  { value: "market", label: "Market" },
];
const DURATIONS: readonly { value: Draft["timeInForce"]; label: string }[] = [
  { value: "gtc", label: "Good till cancelled (GTC)" },
  { value: "ioc", label: "Immediate or cancel (IOC)" },
  { value: "fok", label: "Fill or kill (FOK)" },
];
const MEANINGS: Readonly<Record<Draft["timeInForce"], string>> = {
  gtc: "What does not fill at once waits in the book until you cancel it.",
  ioc: "What can fill at once does; the rest is cancelled.",
  fok: "The whole amount fills at once, or nothing does.",
};

/** The fields of the order form. They take nothing of the book, so they are not drawn again when it changes. */
export const OrderFields = memo(function OrderFields({
  market,
  rules,
  draft,
  priceFault,
  amountFault,
  slippageFault,
  hasFunds,
  onDraft,
  onStep,
  onPart,
}: OrderFieldsProps) {
  const { baseAsset, quoteAsset } = market;
  const times = DURATIONS.filter(({ value }) => rules?.timesInForce.includes(value));
  const stepKeys = (field: "price" | "amount") => (event: KeyboardEvent) => {
    const by = { ArrowUp: 1n, ArrowDown: -1n }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    onStep(draft, field, by * (event.shiftKey ? 10n : 1n));
  };
  return (
    <>
      <SegmentedControl
        fullWidth
        aria-label="Side"
        className={classes.sides}
        data-side={draft.side}
        data={SIDES}
        value={draft.side}
        onChange={(side) => onDraft({ side: side === "buy" ? "buy" : "sell", amount: "" })}
      />
      <SegmentedControl
        fullWidth
        size="xs"
        aria-label="Order type"
        data={TYPES}
        value={draft.type}
        onChange={(type) => onDraft({ type: type === "limit" ? "limit" : "market" })}
      />
      {draft.type === "limit" ? (
        <DecimalField
          label="Price"
          value={draft.price}
          error={priceFault}
          rightSection={<span className={classes.unit}>{quoteAsset}</span>}
          rightSectionWidth={64}
          onValue={(price) => onDraft({ price })}
          onKeyDown={stepKeys("price")}
        />
      ) : (
        <DecimalField
          label="Slippage at most"
          description="Beyond this distance from the last price nothing is traded."
          value={draft.slippage}
          error={slippageFault}
          rightSection={<span className={classes.unit}>%</span>}
          onValue={(slippage) => onDraft({ slippage })}
        />
      )}
      <div className={classes.amount}>
        <DecimalField
          label="Amount"
          value={draft.amount}
          error={amountFault}
          onValue={(amount) => onDraft({ amount })}
          onKeyDown={stepKeys("amount")}
        />
        <Select
          aria-label="Amount in"
          w={96}
          data={[
            { value: "base", label: baseAsset },
            { value: "quote", label: quoteAsset },
          ]}
          value={draft.unit}
          onChange={(value) => onDraft({ unit: value === "quote" ? "quote" : "base", amount: "" })}
        />
      </div>
      <PercentButtons
        of="what is free"
        disabled={!hasFunds}
        onPercent={(percent) => onPart(draft, percent)}
      />
      {draft.type === "limit" && times.length > 1 && (
        <Select
          label="Time in force"
          description={MEANINGS[draft.timeInForce]}
          data={times}
          value={draft.timeInForce}
          onChange={(value) =>
            onDraft(
              value === "ioc" || value === "fok"
                ? { timeInForce: value, postOnly: false }
                : { timeInForce: "gtc" },
            )
          }
        />
      )}
      {draft.type === "limit" && rules?.postOnly && (
        <Checkbox
          label="Post-only"
          description="The order never takes. If it would trade at once, it is refused."
          checked={draft.postOnly}
          disabled={draft.timeInForce !== "gtc"}
          onChange={(event) => onDraft({ postOnly: event.currentTarget.checked })}
        />
      )}
    </>
  );
});
