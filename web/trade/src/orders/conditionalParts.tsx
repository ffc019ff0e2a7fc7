/** What the order form shows of orders that wait for a price. Loaded when the list of all types is opened. */
import { Menu, SegmentedControl } from "@mantine/core";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { t } from "#lib/language.ts";
import type { OrderType } from "../api/orderKinds.ts";
import { type Market } from "../api/queries.ts";
import { type ConditionalDraft, isTrailing } from "./conditional.ts";
import classes from "./OrderForm.module.css";
import { typeName } from "./labels.ts";
import type { Offer } from "./offer.ts";
import type { Draft, Review } from "./draft.ts";
import { stepped } from "./review.ts";
import { SourceChoice } from "./SourceChoice.tsx";
import { triggerName } from "./trigger.ts";

export { draftTerms, reviewConditional } from "./conditional.ts";
export { ExitFields, OcoFields } from "./listFields.tsx";
export { reviewList } from "./lists.ts";
export { triggerSentence } from "./triggerSentence.ts";

const MEANINGS: Readonly<Record<OrderType, string>> = {
  get limit() {
    return t("Trades at your price or a better one.");
  },
  get market() {
    return t("Trades at once, at the best prices of the book.");
  },
  get stop_market() {
    return t("Becomes a market order when the price goes against you as far as your stop price.");
  },
  get stop_limit() {
    return t("Becomes a limit order when the price goes against you as far as your stop price.");
  },
  get take_profit_market() {
    return t("Becomes a market order when the price has come as far your way as you want.");
  },
  get take_profit_limit() {
    return t("Becomes a limit order when the price has come as far your way as you want.");
  },
  get trailing_stop_market() {
    return t("A stop that follows the best price behind it, then a market order.");
  },
  get trailing_stop_limit() {
    return t("A stop that follows the best price behind it, then a limit order.");
  },
};

/** The entries of the list of types, each with what it does. */
export function TypeChoices({
  offer,
  draft,
  onDraft,
}: {
  offer: Offer;
  draft: Draft;
  onDraft: (changes: Partial<Draft>) => void;
}) {
  const { type: chosen, isOco } = draft;
  return (
    <>
      {offer.types.map((type) => (
        <Menu.Item
          key={type}
          aria-current={(type === chosen && !isOco) || undefined}
          onClick={() => onDraft({ type })}
        >
          <strong>{typeName(type)}</strong>
          <span className={classes.meaning}>{MEANINGS[type]}</span>
        </Menu.Item>
      ))}
      {offer.lists.includes("oco") && (
        <Menu.Item
          aria-current={isOco || undefined}
          onClick={() => onDraft({ type: "limit", isOco: true, hasExits: false })}
        >
          <strong>{typeName("OCO")}</strong>
          <span className={classes.meaning}>
            {t("A limit order and a stop: what one fills, the other loses.")}
          </span>
        </Menu.Item>
      )}
    </>
  );
}

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
            label={t("Follows by")}
            value={draft.trailing}
            error={faults.trailing}
            onValue={(trailing) => onDraft({ trailing })}
          />
          <SegmentedControl
            size="xs"
            aria-label={t("Follows by")}
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
          label={triggerName(draft.type)}
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
      <SourceChoice offer={offer} draft={draft} onDraft={onDraft} />
    </>
  );
}
