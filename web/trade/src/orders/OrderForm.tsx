import { Button, SegmentedControl, Select } from "@mantine/core";
import { type KeyboardEvent, memo, type ReactNode, useId, useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { scaledText } from "#lib/scaled.ts";
import { Link } from "wouter";
import { useLink } from "../api/live.ts";
import type { Balance, Market, Ticker } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { Panel } from "../market/Panel.tsx";
import { explain } from "../messages.ts";
import { PercentButtons } from "../parts/PercentButtons.tsx";
import type { BookState } from "../stream/feeds.ts";
import classes from "./OrderForm.module.css";
import { usePlaceOrder } from "./placing.ts";
import { type Draft, type Estimate, partOfFunds, review, stepped } from "./review.ts";

interface OrderFormProps {
  market: Market;
  ticker: Ticker | undefined;
  state: BookState;
  balances: readonly Balance[] | undefined;
  draft: Draft;
  onDraft: (changes: Partial<Draft>) => void;
}

const DURATIONS = [
  { value: "gtc", label: "Until cancelled" },
  { value: "ioc", label: "At once, rest cancelled" },
  { value: "fok", label: "Wholly at once, or not" },
];

/** Buys or sells. Everything that the order would do is said before it is sent, and why it cannot be. */
export const OrderForm = memo(function OrderForm({
  market,
  ticker,
  state,
  balances,
  draft,
  onDraft,
}: OrderFormProps) {
  const { session } = useSession();
  const link = useLink();
  const hint = useId();
  const [asks, setAsks] = useState(false);
  const { symbol, baseAsset, quoteAsset } = market;
  const free = (asset: string) => balances?.find((balance) => balance.asset === asset)?.available ?? "0";
  const available = balances ? { base: free(baseAsset), quote: free(quoteAsset) } : null;
  const facts = { market, book: state.book, lastPrice: ticker?.lastPrice ?? null, available };
  const found = review(draft, facts);
  const place = usePlaceOrder(() => {
    setAsks(false);
    onDraft({ amount: "" });
  });
  const isBuy = draft.side === "buy";
  const word = isBuy ? "Buy" : "Sell";
  const action = `${word} ${baseAsset}, ${draft.type}`;
  const amountStep = draft.unit === "base" ? market.lotSize : market.tickSize;
  const isOld = state.book !== null && (!state.isCurrent || link.state !== "live");
  const blocked = found.blocked ?? (available === null ? "Your balances are on their way." : null);
  const stepKeys = (field: "price" | "amount", step: string) => (event: KeyboardEvent) => {
    const by = { ArrowUp: 1n, ArrowDown: -1n }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const from = draft[field] === "" && field === "price" ? (ticker?.lastPrice ?? "") : draft[field];
    onDraft({ [field]: stepped(from, step, by * (event.shiftKey ? 10n : 1n)) });
  };
  const send = () => {
    if (found.body && !place.isPending) place.mutate(found.body);
  };

  return (
    <Panel title="Order">
      <form
        className={classes.form}
        aria-label="Order form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked !== null || place.isPending) return;
          if (found.needsWord) setAsks(true);
          else send();
        }}
      >
        <SegmentedControl
          fullWidth
          aria-label="Side"
          className={classes.sides}
          data-side={draft.side}
          data={[
            { value: "buy", label: "Buy" },
            { value: "sell", label: "Sell" },
          ]}
          value={draft.side}
          onChange={(side) => onDraft({ side: side === "buy" ? "buy" : "sell", amount: "" })}
        />
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label="Order type"
          data={[
            { value: "limit", label: "Limit" },
            { value: "market", label: "Market" },
          ]}
          value={draft.type}
          onChange={(type) => onDraft({ type: type === "limit" ? "limit" : "market" })}
        />
        {draft.type === "limit" ? (
          <DecimalField
            label="Price"
            value={draft.price}
            error={found.faults.price}
            rightSection={<span className={classes.unit}>{quoteAsset}</span>}
            rightSectionWidth={64}
            onValue={(price) => onDraft({ price })}
            onKeyDown={stepKeys("price", market.tickSize)}
          />
        ) : (
          <DecimalField
            label="Slippage at most"
            description="Beyond this distance from the last price nothing is traded."
            value={draft.slippage}
            error={found.faults.slippage}
            rightSection={<span className={classes.unit}>%</span>}
            onValue={(slippage) => onDraft({ slippage })}
          />
        )}
        <div className={classes.amount}>
          <DecimalField
            label="Amount"
            value={draft.amount}
            error={found.faults.amount}
            onValue={(amount) => onDraft({ amount })}
            onKeyDown={stepKeys("amount", amountStep)}
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
          disabled={available === null}
          onPercent={(percent) => {
            const amount = partOfFunds(draft, facts, percent);
            if (amount !== null) onDraft({ amount });
          }}
        />
        {draft.type === "limit" && (
          <Select
            label="Valid"
            data={DURATIONS}
            value={draft.timeInForce}
            onChange={(value) => onDraft({ timeInForce: value === "ioc" || value === "fok" ? value : "gtc" })}
          />
        )}
        <Figures market={market} draft={draft} estimate={found.estimate} available={available} />
        {isOld && (
          <WarningNote>
            The prices on this page are old: the connection to the exchange is broken.
          </WarningNote>
        )}
        {found.warnings.map((warning) => (
          <WarningNote key={warning}>{warning}</WarningNote>
        ))}
        {place.error && !asks && <ProblemNote problem={explain(place.error)} />}
        {session ? (
          <>
            <Button
              type="submit"
              size="md"
              fullWidth
              className={classes.submit}
              data-side={draft.side}
              loading={place.isPending}
              disabled={blocked !== null}
              aria-describedby={hint}
            >
              {action}
            </Button>
            <p id={hint} className={classes.hint} role="status">
              {blocked ?? ""}
            </p>
          </>
        ) : (
          <>
            <Button component={Link} href={`/login?next=/${symbol}`} size="md" fullWidth>
              Log in to trade
            </Button>
            <p className={classes.hint}>
              No account? <Link href={`/register?next=/${symbol}`}>Create one</Link>
            </p>
          </>
        )}
      </form>
      {asks && found.estimate && (
        <ConfirmDialog
          title={`${word} far from the market?`}
          typed={symbol}
          operator=""
          confirm={action}
          danger
          isBusy={place.isPending}
          problem={place.error ? explain(place.error) : null}
          missing={[found.blocked !== null && "close this and correct the order"]}
          onConfirm={send}
          onClose={() => setAsks(false)}
        >
          {found.warnings.map((warning) => (
            <WarningNote key={warning}>{warning}</WarningNote>
          ))}
          <p>
            You {isBuy ? "pay" : "receive"} about{" "}
            <Amount value={scaledText(found.estimate.total)} unit={quoteAsset} /> for{" "}
            <Amount value={scaledText(found.estimate.quantity)} unit={baseAsset} />.
          </p>
        </ConfirmDialog>
      )}
    </Panel>
  );
});

/** What is free, and what the order would do. */
function Figures({
  market,
  draft,
  estimate,
  available,
}: {
  market: Market;
  draft: Draft;
  estimate: Estimate | null;
  available: { base: string; quote: string } | null;
}) {
  const { baseAsset, quoteAsset } = market;
  const places = placesOf(market.tickSize);
  const isBuy = draft.side === "buy";
  const money = (value: bigint | undefined) =>
    value === undefined ? "–" : `${formatDecimal(rounded(value), places)} ${quoteAsset}`;
  const rows: [string, ReactNode][] = [
    [
      "Free",
      available ? (
        <Amount value={isBuy ? available.quote : available.base} unit={isBuy ? quoteAsset : baseAsset} />
      ) : (
        "–"
      ),
    ],
    ["Amount", estimate ? `${formatDecimal(scaledText(estimate.quantity))} ${baseAsset}` : "–"],
    [
      draft.type === "market" ? "Average price" : "Fills at once",
      draft.type === "market"
        ? money(estimate?.averagePrice)
        : estimate
          ? `${formatDecimal(scaledText(estimate.filledNow))} ${baseAsset}`
          : "–",
    ],
    [`Fee (${feeText(market)})`, money(estimate?.fee)],
    [isBuy ? "You pay" : "You receive", <strong key="total">{money(estimate?.total)}</strong>],
  ];
  return (
    <dl className={classes.figures}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="figures">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** An estimate to eight places: it moves with the market, so further digits would say nothing. */
function rounded(value: bigint): string {
  const step = 10n ** 10n;
  return scaledText(((value + (value < 0n ? -step : step) / 2n) / step) * step);
}

function feeText({ makerFee, takerFee }: Market): string {
  const percent = (bps: number) => scaledText(BigInt(bps) * 10n ** 16n);
  return `${percent(makerFee)}–${percent(takerFee)} %`;
}
