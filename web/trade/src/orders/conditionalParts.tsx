/** What the order form shows of orders that wait for a price. Loaded when the list of all types is opened. */
import { Menu, SegmentedControl } from "@mantine/core";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import type { OrderType } from "../api/orderKinds.ts";
import { type Market } from "../api/queries.ts";
import { type ConditionalDraft, isTrailing } from "./conditional.ts";
import classes from "./OrderForm.module.css";
import { typeName } from "./labels.tsx";
import type { Offer } from "./offer.ts";
import { type Draft, type Review, stepped } from "./review.ts";

export { draftTerms, reviewConditional } from "./conditional.ts";
export { triggerSentence } from "./trigger.ts";

const MEANINGS: Readonly<Record<OrderType, string>> = {
  limit: "Trades at your price or a better one.",
  market: "Trades at once, at the best prices of the book.",
  stop_market: "Becomes a market order when the price goes against you as far as your stop price.",
  stop_limit: "Becomes a limit order when the price goes against you as far as your stop price.",
  take_profit_market: "Becomes a market order when the price has come as far your way as you want.",
  take_profit_limit: "Becomes a limit order when the price has come as far your way as you want.",
  trailing_stop_market: "A stop that follows the best price behind it, then a market order.",
  trailing_stop_limit: "A stop that follows the best price behind it, then a limit order.",
};

/** The entries of the list of types, each with what it does. */
export function TypeChoices({
  types,
  type: chosen,
  onType,
}: {
  types: readonly OrderType[];
  type: OrderType;
  onType: (type: OrderType) => void;
}) {
  return types.map((type) => (
    <Menu.Item key={type} aria-current={type === chosen || undefined} onClick={() => onType(type)}>
      <strong>{typeName(type)}</strong>
      <span className={classes.meaning}>{MEANINGS[type]}</span>
    </Menu.Item>
  ));
}

const SOURCES = { last: "Last price", mark: "Mark price" } as const;

/** What the order waits for. */
export function TriggerFields({
  market,
  offer,
  draft,
  faults,
  onDraft,
}: {
  market: Market;
  offer: Offer;
  draft: ConditionalDraft;
  faults: Review["faults"];
  onDraft: (changes: Partial<Draft>) => void;
}) {
  const unit = (text: string) => <span className={classes.unit}>{text}</span>;
  return (
    <>
      {isTrailing(draft.type) ? (
        <div className={classes.amount}>
          <DecimalField
            label="Follows by"
            value={draft.trailing}
            error={faults.trailing}
            onValue={(trailing) => onDraft({ trailing })}
          />
          <SegmentedControl
            size="xs"
            aria-label="Follows by"
            data={[
              { value: "percent", label: "%" },
              { value: "quote", label: market.quoteAsset },
            ]}
            value={draft.trailingUnit}
            onChange={(value) =>
              onDraft({ trailingUnit: value === "quote" ? "quote" : "percent", trailing: "" })
            }
          />
        </div>
      ) : (
        <DecimalField
          label="Stop price"
          value={draft.stopPrice}
          error={faults.stopPrice}
          rightSection={unit(market.quoteAsset)}
          rightSectionWidth={64}
          onValue={(stopPrice) => onDraft({ stopPrice })}
          onKeyDown={(event) => {
            const by = { ArrowUp: 1n, ArrowDown: -1n }[event.key];
            if (by === undefined) return;
            event.preventDefault();
            onDraft({ stopPrice: stepped(draft.stopPrice, market.tickSize, event.shiftKey ? by * 10n : by) });
          }}
        />
      )}
      {offer.triggers.length > 1 && (
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label="Fires by"
          data={offer.triggers.map((value) => ({ value, label: SOURCES[value] }))}
          value={draft.triggerBy}
          onChange={(value) => onDraft({ triggerBy: value === "mark" ? "mark" : "last" })}
        />
      )}
    </>
  );
}
