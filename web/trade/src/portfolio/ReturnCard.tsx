import { Skeleton } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable, withAreas } from "#lib/components/DataTable.tsx";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { inSentence, rich, t, texts } from "#lib/language.ts";
import { scaledText } from "#lib/scaled.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { PageLink } from "../parts/PageLink.tsx";
import { figuresOf, type FlowKind } from "./portfolioReturn.ts";
import type { PortfolioReturn } from "./queries.ts";
import classes from "./ReturnCard.module.css";
import { readDecimalCents } from "./valuation.ts";

const UNIT = "USD";

const NAMES: Record<FlowKind, string> = texts({
  deposits: "Deposits",
  withdrawals: "Withdrawals",
  payments: "Payments",
  moves: "Staking and margin account",
  subscriptions: "Plans",
  adjustments: "Adjustments",
});
const MOVEMENTS: Record<string, string> = texts({
  deposit: "Deposit",
  withdrawal: "Withdrawal",
  payment: "Payment",
  move: "Staking and margin account",
  subscription: "Subscription",
  adjustment: "Adjustment",
  income: "Reward",
});

/**
 * What the wallet gained over a period: start, what was moved in and out, result, end. The column adds up, and ends
 * with the `present` value that the page shows; null while that is not known.
 */
export function ReturnCard({
  query,
  label,
  present,
}: {
  query: UseQueryResult<PortfolioReturn>;
  label: string;
  present: bigint | null;
}) {
  const found = query.data;
  return (
    <Card title={t("Return")}>
      {found ? (
        <Figures found={found} label={label} present={present} />
      ) : query.error ? (
        <ErrorState problem={explain(query.error)} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={120} role="progressbar" aria-label={t("Loading the return")} />
      )}
    </Card>
  );
}

function Figures({
  found,
  label,
  present,
}: {
  found: PortfolioReturn;
  label: string;
  present: bigint | null;
}) {
  const { start, flows, result, income, end } = figuresOf(found, present);
  return (
    <>
      <p className={classes.percent}>
        {found.percent === null ? (
          t("Nothing was held in this period.")
        ) : (
          <span className="figures">{formatDecimal(found.percent, 2)} %</span>
        )}
      </p>
      <table className={classes.figures} aria-label={t("Return in {label}", { label: inSentence(label) })}>
        <tbody>
          <Row name={t("Value at the start")} value={start} />
          {flows.map(({ kind, value }) => (
            <Row key={kind} name={t(NAMES[kind])} value={value} signed />
          ))}
          <Row name={t("Result")} value={result} signed />
          <Row name={t("Value at the end")} value={end} isSum />
        </tbody>
      </table>
      <p className={classes.note}>
        {income !== null && (
          <>
            {rich("Rewards in the result: {amount}.", {
              amount: <Amount value={income} unit={UNIT} places={2} signed />,
            })}{" "}
          </>
        )}
        {t("The percentage is time-weighted: deposits and withdrawals do not change it.")}
        {found.movements.length > 0 && (
          <>
            {" "}
            {rich(
              "What was moved counts at the last trade before it. {link} estimates its cost at the fair price of that minute, which may be a little more or less.",
              { link: <PageLink href="/positions">{t("Positions")}</PageLink> },
            )}
          </>
        )}
        {found.unpriced.length > 0 &&
          " " + t("Without a price, not counted: {unpriced}.", { unpriced: found.unpriced.join(", ") })}
      </p>
    </>
  );
}

function Row({
  name,
  value,
  signed = false,
  isSum = false,
}: {
  name: string;
  value: string;
  signed?: boolean;
  isSum?: boolean;
}) {
  return (
    <tr data-sum={isSum || undefined}>
      <th scope="row">{name}</th>
      <td>
        <Amount value={value} unit={UNIT} places={2} signed={signed} />
      </td>
    </tr>
  );
}

type Movement = PortfolioReturn["movements"][number];

/** What was moved in and out: the marks of the graph, as a list. */
export function MovementList({ query }: { query: UseQueryResult<PortfolioReturn> }) {
  const rows = query.data?.movements.toReversed();
  const hidden = (query.data?.movementCount ?? 0) - (rows?.length ?? 0);
  return (
    <Card flush title={t("Moved in and out")}>
      <DataTable
        label={t("Moved in and out")}
        columns={withAreas(columns(), AREAS)}
        card={CARD}
        rows={rows}
        rowId={({ timestamp, kind, asset, amount }) => `${timestamp} ${kind} ${asset} ${amount}`}
        rowName={({ asset }) => asset}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={t("Nothing was moved")}>
            {t("Deposits, withdrawals, payments and rewards of the period appear here.")}
          </EmptyState>
        }
        footer={hidden > 0 && t("Only the newest are shown; the history has all.")}
      />
    </Card>
  );
}

/** A movement on a phone, in two lines. */
const CARD = '"what amount" "time value" / minmax(0, 1fr) auto';
const AREAS = {
  time: { name: "time" },
  what: { name: "what" },
  amount: { name: "amount", align: "right" },
  value: { name: "value", align: "right" },
} as const;

const columns = (): Column<Movement>[] => [
  { id: "time", title: t("Time"), cell: ({ timestamp }) => <TimeText milliseconds={timestamp} /> },
  { id: "what", title: t("What"), cell: ({ kind }) => t(MOVEMENTS[kind] ?? "Adjustment") },
  {
    id: "amount",
    title: t("Amount"),
    align: "right",
    cell: ({ amount, asset }) => <AssetAmount value={amount} asset={asset} signed />,
  },
  {
    id: "value",
    title: t("Value then"),
    align: "right",
    cell: ({ value }) =>
      value === null ? (
        t("no price")
      ) : (
        <Amount value={scaledText(readDecimalCents(value))} unit={UNIT} places={2} signed />
      ),
  },
];
