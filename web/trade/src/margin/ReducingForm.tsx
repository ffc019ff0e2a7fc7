import { type ReactNode, useState } from "react";
import { t } from "#lib/language.ts";
import { floorTo, scaledText, toScaled } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import orderForm from "../orders/OrderForm.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { PercentButtons } from "../parts/PercentButtons.tsx";
import { closingOf } from "./closing.ts";
import { QuantityField, SideChoice, Submit } from "./FormParts.tsx";
import { LevelText } from "./LevelText.tsx";
import classes from "./Margin.module.css";
import type { MarginAccount } from "./queries.ts";
import { ReduceDialog, reducingAction } from "./ReduceDialog.tsx";
import { type ReducingDraft, reviewReducing } from "./reducing.ts";

/** Closes open positions of a market by a reduce-only order at the market price. */
export function ReducingForm({
  market,
  account,
  draft,
  onDraft,
  onPlaced,
  options,
  notes,
}: {
  market: Market;
  account: MarginAccount;
  draft: ReducingDraft;
  onDraft: (changes: Partial<ReducingDraft>) => void;
  /** Positions were made smaller. */
  onPlaced: (() => void) | undefined;
  /** What stands below the quantity. */
  options: ReactNode;
  /** What stands between the figures and the button. */
  notes: ReactNode;
}) {
  const [asks, setAsks] = useState(false);
  const { fault, blocked, open, parts } = reviewReducing(draft, market, account);
  const after = closingOf(parts, account, market.takerFee);
  const closed = parts.reduce((sum, { quantity }) => sum + quantity, 0n);
  const base = market.baseAsset;
  const rows: [name: string, value: ReactNode][] = [
    [
      draft.side === "sell" ? t("Open longs") : t("Open shorts"),
      <AssetAmount key="open" value={scaledText(open)} asset={base} />,
    ],
    [
      t("Stays open"),
      parts.length === 0 ? null : <AssetAmount key="left" value={scaledText(open - closed)} asset={base} />,
    ],
    [t("Level afterwards"), after && <LevelText key="level" level={after.level} />],
  ];
  return (
    <>
      <form
        className={classes.form}
        aria-label={t("Reduce positions")}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked === null) setAsks(true);
        }}
      >
        <SideChoice
          side={draft.side}
          buy={t("Buy, closes shorts")}
          sell={t("Sell, closes longs")}
          onSide={(side) => onDraft({ side })}
        />
        <QuantityField
          market={market}
          value={draft.quantity}
          error={fault}
          onValue={(quantity) => onDraft({ quantity })}
        />
        <PercentButtons
          of={t("what is open")}
          disabled={open === 0n}
          onPercent={(percent) => {
            const part = (open * percent) / 100n;
            onDraft({
              quantity: scaledText(percent === 100n ? part : floorTo(part, toScaled(market.lotSize))),
            });
          }}
        />
        {options}
        <dl className={orderForm.figures}>
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="figures">{value ?? "–"}</dd>
            </div>
          ))}
        </dl>
        {notes}
        <Submit
          side={draft.side}
          action={reducingAction(draft.side)}
          blocked={blocked}
          note={t(
            "It trades at the market, at most what is open. What finds nobody to trade with stays open. The loans are repaid from what it brings.",
          )}
        />
      </form>
      {asks && (
        <ReduceDialog
          market={market}
          account={account}
          draft={draft}
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
