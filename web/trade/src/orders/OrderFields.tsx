import { Button, SegmentedControl } from "@mantine/core";
import { type KeyboardEvent, memo, useState } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { late } from "#lib/components/late.tsx";
import { t, texts } from "#lib/language.ts";
import { hasLimit, isConditional, type TimeInForce } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { ChoiceField } from "../parts/ChoiceField.tsx";
import { CheckField } from "../parts/CheckField.tsx";
import { PercentButtons } from "../parts/PercentButtons.tsx";
import { isFairPriced } from "./bounds.ts";
import type { Offer } from "./offer.ts";
import classes from "./OrderForm.module.css";
import { type Draft, isList, type Review } from "./draft.ts";
import { isForMoney, waits } from "./review.ts";
import { type Conditional, TypeMenu } from "./TypeMenu.tsx";

const AdvancedFields = late(() => import("./AdvancedFields.tsx"));
const ExpiryField = late(() => import("./ExpiryField.tsx"), {
  waiting: () => <div className={classes.expiry} />,
});

interface OrderFieldsProps {
  market: Market;
  offer: Offer;
  draft: Draft;
  /** Null until it is loaded: no draft is conditional before. */
  conditional: Conditional | null;
  faults: Review["faults"];
  hasFunds: boolean;
  /** Amounts that a button fills in. */
  sizes: readonly string[];
  /** Whether there is somebody who has habits. */
  isUser: boolean;
  /** Whether it could be loaded; the user is told if not. */
  loadConditional: () => Promise<boolean>;
  onDraft: (changes: Partial<Draft>) => void;
  /** An arrow key moves a field by so many steps. */
  onStep: (draft: Draft, field: "price" | "amount", by: bigint) => void;
  /** So many percent of what is free are wanted. */
  onPart: (draft: Draft, percent: bigint) => void;
}

const SIDES = [
  {
    value: "buy",
    get label() {
      return t("Buy");
    },
  },
  {
    value: "sell",
    get label() {
      return t("Sell");
    },
  },
];
const TYPES = [
  {
    value: "limit",
    get label() {
      return t("Limit");
    },
  },
  {
    value: "market",
    get label() {
      return t("Market|order");
    },
  },
];
const DURATIONS: Readonly<Record<TimeInForce, readonly [name: string, meaning: string]>> = texts({
  gtc: ["Good till cancelled (GTC)", "What does not fill at once waits in the book until you cancel it."],
  ioc: ["Immediate or cancel (IOC)", "What can fill at once does; the rest is cancelled."],
  fok: ["Fill or kill (FOK)", "The whole amount fills at once, or nothing does."],
  gtd: ["Good till date (GTD)", "What does not fill at once waits in the book until the date."],
});

/** The times in force that a draft can have. A market order never waits. */
function timesOf(draft: Draft, { times }: Offer, market: Market): readonly TimeInForce[] {
  const { type, isOco } = draft;
  if (isOco) return [];
  if (hasLimit(type)) return times;
  // The exchange takes no amount of money that fills whole or not at all.
  return type === "market" && !isForMoney(draft, market) ? times.filter((name) => !waits(name)) : [];
}

/** The fields of the order form. They take nothing of the book, so they are not drawn again when it changes. */
export const OrderFields = memo(function OrderFields({
  market,
  offer,
  draft,
  conditional,
  faults,
  hasFunds,
  sizes,
  isUser,
  loadConditional,
  onDraft,
  onStep,
  onPart,
}: OrderFieldsProps) {
  const { baseAsset, quoteAsset } = market;
  const [isAdvanced, setAdvanced] = useState(false);
  const { type } = draft;
  const times = timesOf(draft, offer, market);
  const time = times.includes(draft.timeInForce) ? draft.timeInForce : (times[0] ?? "gtc");
  // No order of a list moves.
  const canSlide = offer.postOnlySlides && !isList(draft);
  const hasMore = offer.types.some(isConditional) || offer.lists.includes("oco");
  const fields = { market, offer, draft, faults, onDraft };
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
        aria-label={t("Side")}
        className={classes.sides}
        data-side={draft.side}
        data={SIDES}
        value={draft.side}
        onChange={(side) => onDraft({ side: side === "buy" ? "buy" : "sell", amount: "" })}
      />
      <div className={classes.typeRow}>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label={t("Order type")}
          className={classes.typeChoice}
          data={TYPES}
          value={isConditional(type) || draft.isOco ? "" : type}
          onChange={(next) => onDraft({ type: next === "limit" ? "limit" : "market" })}
        />
        {hasMore && (
          <TypeMenu
            offer={offer}
            draft={draft}
            conditional={conditional}
            onOpen={loadConditional}
            onDraft={onDraft}
          />
        )}
      </div>
      {conditional && isConditional(type) && (
        <conditional.TriggerFields
          market={market}
          offer={offer}
          draft={{ ...draft, type }}
          faults={faults}
          onDraft={onDraft}
        />
      )}
      {hasLimit(type) ? (
        <DecimalField
          label={t("Price")}
          value={draft.price}
          error={faults.price}
          rightSection={<span className={classes.unit}>{quoteAsset}</span>}
          rightSectionWidth={64}
          onValue={(price) => onDraft({ price })}
          onKeyDown={stepKeys("price")}
        />
      ) : (
        <DecimalField
          label={t("Slippage at most")}
          description={
            isConditional(type)
              ? t("Beyond this distance from the price that fires it nothing is traded.")
              : isFairPriced(market)
                ? t("Beyond this distance from the fair price nothing is traded.")
                : t("Beyond this distance from the last price nothing is traded.")
          }
          value={draft.slippage}
          error={faults.slippage}
          rightSection={<span className={classes.unit}>%</span>}
          onValue={(slippage) => onDraft({ slippage })}
        />
      )}
      {conditional && draft.isOco && <conditional.OcoFields {...fields} />}
      <div className={classes.amount}>
        <DecimalField
          label={t("Amount")}
          value={draft.amount}
          error={faults.amount}
          onValue={(amount) => onDraft({ amount })}
          onKeyDown={stepKeys("amount")}
        />
        <SegmentedControl
          size="xs"
          aria-label={t("Amount in")}
          data={[
            { value: "base", label: baseAsset },
            { value: "quote", label: quoteAsset },
          ]}
          value={draft.unit}
          onChange={(unit) => onDraft({ unit: unit === "quote" ? "quote" : "base", amount: "" })}
        />
      </div>
      <PercentButtons
        of={t("what is free")}
        disabled={!hasFunds}
        onPercent={(percent) => onPart(draft, percent)}
      />
      {sizes.length > 0 && (
        <div className={classes.sizes} role="group" aria-label={t("Your sizes")}>
          {sizes.map((size) => (
            <Button
              key={size}
              size="compact-xs"
              variant="default"
              aria-label={`${formatDecimal(size)} ${baseAsset}`}
              onClick={() => onDraft({ amount: size, unit: "base" })}
            >
              {formatDecimal(size)}
            </Button>
          ))}
        </div>
      )}
      {times.length > 1 && (
        <ChoiceField
          label={t("Time in force")}
          description={t(DURATIONS[time][1])}
          choices={times.map((name) => ({ value: name, label: t(DURATIONS[name][0]) }))}
          value={time}
          onChoice={(value) => {
            const next = times.find((name) => name === value) ?? "gtc";
            onDraft({ timeInForce: next, expiresAt: "", ...(waits(next) ? {} : { postOnly: false }) });
          }}
        />
      )}
      {time === "gtd" && (
        <ExpiryField expiresAt={draft.expiresAt} onExpiry={(expiresAt) => onDraft({ expiresAt })} />
      )}
      {type === "limit" && !draft.isOco && offer.postOnly && (
        <CheckField
          label={t("Post-only")}
          description={
            canSlide
              ? t("The order never takes.")
              : t("The order never takes. If it would trade at once, it is refused.")
          }
          checked={draft.postOnly}
          disabled={!waits(draft.timeInForce)}
          onChecked={(postOnly) => onDraft({ postOnly })}
        />
      )}
      {type === "limit" && canSlide && draft.postOnly && (
        <ChoiceField
          label={t("If it would trade at once")}
          choices={[
            { value: "refuse", label: t("Refuse it") },
            { value: "slide", label: t("Move it one tick behind") },
          ]}
          value={draft.postOnlyMode}
          onChoice={(value) => onDraft({ postOnlyMode: value === "slide" ? "slide" : "refuse" })}
        />
      )}
      {!isConditional(type) && !draft.isOco && offer.lists.includes("bracket") && (
        <CheckField
          label={t("Take profit, stop loss")}
          description={t("Exits that are placed with what this order fills.")}
          checked={draft.hasExits}
          onChecked={(hasExits) => {
            onDraft({ hasExits });
            // Without its fields the box would promise what nobody can enter.
            if (hasExits) void loadConditional().then((isThere) => isThere || onDraft({ hasExits: false }));
          }}
        />
      )}
      {conditional && draft.hasExits && isList(draft) && <conditional.ExitFields {...fields} />}
      {(isUser || offer.selfTradePrevention.length > 0) && (
        <details
          className={classes.advanced}
          onToggle={({ currentTarget }) => setAdvanced(currentTarget.open)}
        >
          <summary>{t("Advanced")}</summary>
          {isAdvanced && <AdvancedFields {...fields} offer={offer} />}
        </details>
      )}
    </>
  );
});
