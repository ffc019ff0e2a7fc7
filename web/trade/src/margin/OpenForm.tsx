import { Button, SegmentedControl, Select } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import { ceilTo, ONE, readScaled, scaledText } from "#lib/scaled.ts";
import { returned, useExchange } from "../api/client.ts";
import { useMarkets } from "../api/queries.ts";
import { keptSymbol } from "../market/preferences.ts";
import { explain } from "../api/messages.ts";
import orderForm from "../orders/OrderForm.module.css";
import { stepped } from "../orders/review.ts";
import { PercentButtons } from "../parts/PercentButtons.tsx";
import { inCents, LEVERAGE_MAX, readablePrice } from "./figures.ts";
import { LevelText } from "./LevelText.tsx";
import classes from "./Margin.module.css";
import {
  type OpeningBody,
  type OpeningDraft,
  type OpeningEstimate,
  partOfMargin,
  reviewOpening,
} from "./opening.ts";
import { type MarginAccount, useMarginRequest } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const LEVERAGES = ["1", "2", "3", "5", "10"] as const;
const CENT = ONE / 100n;

/** Opens a position at the market price. Shows margin, loan and risk before the user confirms. */
export function OpenForm({ account }: { account: MarginAccount }) {
  const { data: markets = [], error } = useMarkets();
  const hint = useId();
  const [chosen, setChosen] = useState(keptSymbol);
  const [draft, setDraft] = useState<OpeningDraft>({ side: "buy", quantity: "", leverage: "2" });
  const [asks, setAsks] = useState(false);
  const market = markets.find(({ symbol }) => symbol === chosen) ?? markets[0];
  const symbol = market?.symbol ?? "";
  const facts = { market, account };
  const { faults, blocked, estimate, body } = reviewOpening(draft, facts);
  const change = (changes: Partial<OpeningDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const keys = (field: "quantity" | "leverage", step: string) => (event: KeyboardEvent) => {
    const by = { ArrowUp: 1n, ArrowDown: -1n }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = stepped(draft[field], step, by * (event.shiftKey ? 10n : 1n));
    const isTooMuch = field === "leverage" && (readScaled(next) ?? 0n) > LEVERAGE_MAX * ONE;
    change({ [field]: isTooMuch ? LEVERAGE_MAX.toString() : next });
  };
  return (
    <Card title={t("Open a position")}>
      <form
        className={classes.form}
        aria-label={t("Open a position")}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked === null) setAsks(true);
        }}
      >
        <Select
          label={t("Market")}
          searchable
          nothingFoundMessage={t("No market of that name")}
          data={markets.map((known) => known.symbol)}
          value={symbol || null}
          onChange={(value) => {
            if (value === null) return;
            setChosen(value);
            change({ quantity: "" });
          }}
        />
        <SegmentedControl
          fullWidth
          aria-label={t("Side")}
          className={orderForm.sides}
          data-side={draft.side}
          data={[
            { value: "buy", label: t("Buy, long") },
            { value: "sell", label: t("Sell, short") },
          ]}
          value={draft.side}
          onChange={(side) => change({ side: side === "sell" ? "sell" : "buy" })}
        />
        <DecimalField
          label={t("Leverage")}
          description={t("How many times your own margin the position is worth, from 1 to {leverageMax}.", {
            leverageMax: LEVERAGE_MAX,
          })}
          value={draft.leverage}
          error={faults.leverage}
          rightSection={<span className={classes.unit}>×</span>}
          onValue={(leverage) => change({ leverage })}
          onKeyDown={keys("leverage", "1")}
        />
        <div className={classes.leverages} role="group" aria-label={t("Usual leverages")}>
          {LEVERAGES.map((leverage) => (
            <Button
              key={leverage}
              size="compact-xs"
              variant="default"
              aria-pressed={draft.leverage.trim() === leverage}
              onClick={() => change({ leverage })}
            >
              {leverage} ×
            </Button>
          ))}
        </div>
        <DecimalField
          label={t("Quantity")}
          value={draft.quantity}
          error={faults.quantity}
          rightSection={<span className={classes.unit}>{market?.baseAsset}</span>}
          rightSectionWidth={64}
          onValue={(quantity) => change({ quantity })}
          onKeyDown={keys("quantity", market?.lotSize ?? "1")}
        />
        <PercentButtons
          of={t("what your margin carries")}
          disabled={partOfMargin(draft, facts, 100n) === null}
          onPercent={(percent) => {
            const quantity = partOfMargin(draft, facts, percent);
            if (quantity !== null) change({ quantity });
          }}
        />
        <Figures estimate={estimate} account={account} quote={market?.quoteAsset ?? ""} />
        {error && !market && <ProblemNote problem={explain(error)} />}
        <Button
          type="submit"
          size="md"
          fullWidth
          className={orderForm.submit}
          data-side={draft.side}
          disabled={blocked !== null}
          aria-describedby={hint}
        >
          {actionOf(draft.side)}
        </Button>
        <p id={hint} className={orderForm.hint} role="status">
          {blocked ?? ""}
        </p>
        <p className={classes.note}>
          {t(
            "It trades at the market, so the price may be worse than the fair one; beyond the exchange’s limit nothing is traded. What was borrowed for that and not needed is repaid at once.",
          )}
        </p>
      </form>
      {asks && estimate && body && (
        <OpenDialog
          body={body}
          estimate={estimate}
          account={account}
          blocked={blocked}
          onDone={() => change({ quantity: "" })}
          onClose={() => setAsks(false)}
        />
      )}
    </Card>
  );
}

/** Asks the user to confirm. The request's id lives as long as the dialog, so a changed form is a new request. */
function OpenDialog({
  body,
  estimate,
  account,
  blocked,
  onDone,
  onClose,
}: {
  body: OpeningBody;
  estimate: OpeningEstimate;
  account: MarginAccount;
  blocked: string | null;
  onDone: () => void;
  onClose: () => void;
}) {
  const { rest } = useExchange();
  const { symbol, side, quantity, leverage } = body;
  const [base = "", quote = ""] = symbol.split("-");
  const isBuy = side === "buy";
  const words = {
    quantity: <AssetAmount value={quantity} asset={base} />,
    leverage: formatDecimal(leverage),
  };
  const request = useMarginRequest(
    (requestId) => returned(rest.POST("/api/v1/margin/positions", { body: { ...body, requestId } })),
    ({ account: after, positionId }) => {
      const opened = after.positions.find((known) => known.positionId === positionId);
      toastDone(
        isBuy ? t("Long of {symbol} opened", { symbol }) : t("Short of {symbol} opened", { symbol }),
        opened?.entryPrice &&
          t("{quantity} {base} at {entryPrice} {quote} on average", {
            quantity: formatDecimal(opened.quantity),
            base,
            entryPrice: formatDecimal(opened.entryPrice),
            quote,
          }),
      );
      onDone();
      onClose();
    },
  );
  return (
    <ConfirmDialog
      title={t("{actionOf} of {symbol}?", { actionOf: actionOf(side), symbol })}
      operator=""
      confirm={request.isUnknown ? t("Ask again what became of it") : actionOf(side)}
      isBusy={request.isPending}
      problem={request.problem}
      missing={[!request.isUnknown && blocked !== null && t("close this and correct the form")]}
      onConfirm={() => request.mutate()}
      onClose={onClose}
    >
      <p>
        {isBuy
          ? rich("You buy {quantity} at the market, at {leverage} times leverage.", words)
          : rich("You sell {quantity} at the market, at {leverage} times leverage.", words)}
      </p>
      <Figures estimate={estimate} account={account} quote={quote} />
      <WarningNote>
        {t(
          "If the price goes against you, you can lose all that is in the margin account. At a level of 105 % the exchange closes the position by itself.",
        )}
      </WarningNote>
    </ConfirmDialog>
  );
}

function actionOf(side: OpeningBody["side"]): string {
  return side === "buy" ? t("Open a long") : t("Open a short");
}

/** Shows value, margin and loan of the position, and the level of the account afterwards. */
function Figures({
  estimate,
  account,
  quote,
}: {
  estimate: OpeningEstimate | null;
  account: MarginAccount;
  quote: string;
}) {
  const unit = account.valuationAsset;
  const rows: [name: string, value: ReactNode][] = [
    [t("Fair price"), estimate && <Amount value={readablePrice(estimate.price)} unit={quote} places={2} />],
    [t("Worth, about"), estimate && <Amount value={inCents(estimate.notional)} unit={quote} places={2} />],
    [
      t("Your margin for it"),
      estimate && <Amount value={scaledText(ceilTo(estimate.required, CENT))} unit={unit} places={2} />,
    ],
    [
      t("Borrowed, about"),
      estimate &&
        (estimate.borrowed === 0n ? (
          t("nothing")
        ) : (
          <Amount
            value={
              estimate.borrowedAsset === quote ? inCents(estimate.borrowed) : scaledText(estimate.borrowed)
            }
            unit={estimate.borrowedAsset}
          />
        )),
    ],
    [t("Level afterwards"), estimate && <LevelText level={estimate.level} />],
    [
      t("Liquidated near"),
      estimate &&
        (estimate.liquidationPrice === null ? (
          t("no price")
        ) : (
          <Amount value={readablePrice(estimate.liquidationPrice)} unit={quote} places={2} />
        )),
    ],
  ];
  return (
    <dl className={orderForm.figures}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="figures">{value ?? "–"}</dd>
        </div>
      ))}
    </dl>
  );
}
