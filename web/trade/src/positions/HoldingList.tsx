import { Skeleton } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { formatDecimal, isPositive } from "#lib/decimal.ts";
import { inSentence, rich, t } from "#lib/language.ts";
import { arrange, useUrlState } from "#lib/urlState.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { AssetDetails } from "./AssetDetails.tsx";
import { CountedUntil } from "./CountedUntil.tsx";
import classes from "./HoldingList.module.css";
import { PERIODS, type Period } from "./periods.ts";
import { type Owner, type SpotHolding, type SpotResults, useSpotResults } from "./queries.ts";
import { Result } from "./Result.tsx";
import { compareKnown } from "./spot.ts";

function columnsOf(currency: string, period: Period): Column<SpotHolding>[] {
  const money = (value: string) => <Amount value={value} unit={currency} places={2} />;
  return [
    {
      id: "asset",
      title: t("Asset"),
      cell: ({ asset }) => <strong>{asset}</strong>,
      compare: (a, b) => a.asset.localeCompare(b.asset, "en"),
    },
    {
      id: "quantity",
      title: t("Quantity"),
      align: "right",
      cell: ({ quantity, asset }) => <AssetAmount value={quantity} asset={asset} />,
    },
    {
      id: "average",
      title: t("Average cost"),
      align: "right",
      cell: ({ averageCost, cost }) =>
        averageCost === null ? (
          cost === null ? (
            t("unknown")
          ) : (
            "–"
          )
        ) : (
          <AssetAmount value={averageCost} asset={currency} />
        ),
    },
    {
      id: "value",
      title: t("Value"),
      align: "right",
      cell: ({ value }) => (value === null ? t("no price") : money(value)),
      compare: (a, b) => compareKnown(a.value, b.value),
    },
    {
      id: "cost",
      title: t("Cost"),
      align: "right",
      cell: (row) => <Cost holding={row} currency={currency} />,
      compare: (a, b) => compareKnown(a.cost, b.cost),
    },
    {
      id: "unrealised",
      title: t("Unrealised"),
      align: "right",
      cell: ({ unrealisedPnl, unrealisedPercent, cost }) => (
        <Unrealised
          value={unrealisedPnl}
          percent={unrealisedPercent}
          currency={currency}
          isKnown={cost !== null}
        />
      ),
      compare: (a, b) => compareKnown(a.unrealisedPnl, b.unrealisedPnl),
    },
    {
      id: "realised",
      title: t("Realised"),
      align: "right",
      cell: ({ realisedPnl }) => <Result value={realisedPnl[period]} unit={currency} />,
      compare: (a, b) => compareKnown(a.realisedPnl[period], b.realisedPnl[period]),
    },
    { id: "fees", title: t("Fees"), align: "right", cell: ({ fees }) => <Fees fees={fees} /> },
  ];
}

/** What the user holds on the exchange, with cost, value and result of each asset and of all. */
export function HoldingList({
  owner,
  only,
  period,
  toolbar,
}: {
  owner: Owner;
  /** The asset that is shown alone. */
  only?: string | undefined;
  /** Of which time the realised results are. */
  period: Period;
  toolbar?: ReactNode;
}) {
  const query = useSpotResults(owner);
  const { sort, toggleSort } = useUrlState();
  const [asset, setAsset] = useState<string | null>(null);
  const { data } = query;
  const columns = columnsOf(data?.currency ?? "", period);
  const rows = data?.holdings.filter((row) => only === undefined || row.asset === only) ?? [];
  const compare = columns.find(({ id }) => id === sort?.column)?.compare;
  const all = { index: 0, size: rows.length };
  return (
    <>
      <DataTable
        label={t("Holdings")}
        toolbar={toolbar}
        columns={columns}
        rows={data && arrange(rows, compare, sort?.descending ?? false, all)}
        rowId={(row) => row.asset}
        rowName={(row) => row.asset}
        actions={(row) => [{ label: t("Show its lots and sales"), onClick: () => setAsset(row.asset) }]}
        sort={sort}
        onSort={toggleSort}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={t("Nothing held yet")}>
            {t("What you deposit or buy on this exchange appears here, with its cost and its result.")}
          </EmptyState>
        }
        footer={data && rows.length > 0 && <Notes results={data} />}
      />
      {asset !== null && <AssetDetails owner={owner} asset={asset} onClose={() => setAsset(null)} />}
    </>
  );
}

/** The sums over all holdings: each is the sum of the column below it. */
export function HoldingTotals({ owner }: { owner: Owner }) {
  const { data, error, refetch } = useSpotResults(owner);
  if (!data && error) return <ErrorState problem={explain(error)} onRetry={() => void refetch()} />;
  if (!data)
    return <Skeleton height={120} mb={16} role="progressbar" aria-label={t("Loading the results")} />;
  const { totals, currency } = data;
  return (
    <Card title={t("Value of your holdings")}>
      <p className={classes.total}>
        <Amount value={totals.value} unit={currency} places={2} />
      </p>
      <dl className={classes.parts}>
        <Part name={t("Cost")}>
          <Amount value={totals.cost} unit={currency} places={2} />
        </Part>
        <Part name={t("Unrealised")}>
          <Unrealised
            value={totals.unrealisedPnl}
            percent={totals.unrealisedPercent}
            currency={currency}
            isKnown
          />
        </Part>
        {/[1-9]/.test(totals.unknownValue) && (
          <Part name={t("Of unknown cost")}>
            <Amount value={totals.unknownValue} unit={currency} places={2} />
          </Part>
        )}
        {PERIODS.map(({ value, label }) => (
          <Part
            key={value}
            name={
              value === "all" ? t("Realised in all") : t("Realised {label}", { label: inSentence(label) })
            }
          >
            <Result value={totals.realisedPnl[value]} unit={currency} />
          </Part>
        ))}
        <Part name={t("Fees")}>
          <Fees fees={totals.fees} />
        </Part>
      </dl>
    </Card>
  );
}

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Cost({ holding, currency }: { holding: SpotHolding; currency: string }) {
  const { cost, quantity, knownQuantity, estimatedQuantity, asset } = holding;
  if (cost === null) return t("unknown");
  const amount = <Amount value={cost} unit={currency} places={2} />;
  const isEstimated = isPositive(estimatedQuantity);
  if (quantity === knownQuantity && !isEstimated) return amount;
  return (
    <span className={classes.stacked}>
      {amount}
      {quantity !== knownQuantity && (
        <span className={classes.detail}>
          {rich("of {knownQuantity}", { knownQuantity: <AssetAmount value={knownQuantity} asset={asset} /> })}
        </span>
      )}
      {isEstimated && (
        <span className={classes.detail}>
          {rich("estimated for {quantity}", {
            quantity: <AssetAmount value={estimatedQuantity} asset={asset} />,
          })}
        </span>
      )}
    </span>
  );
}

export function Unrealised({
  value,
  percent,
  currency,
  isKnown,
}: {
  value: string | null;
  percent: string | null;
  currency: string;
  isKnown: boolean;
}) {
  if (!isKnown) return t("unknown");
  return (
    <span className={classes.stacked}>
      <Result value={value} unit={currency} />
      {percent !== null && <span className={classes.detail}>{formatDecimal(percent, 2)} %</span>}
    </span>
  );
}

function Fees({ fees }: { fees: SpotHolding["fees"] }) {
  if (fees.length === 0) return "–";
  return (
    <span className={classes.stacked}>
      {fees.map(({ asset, amount }) => (
        <span key={asset} className={classes.fee}>
          <AssetAmount value={amount} asset={asset} />
        </span>
      ))}
    </span>
  );
}

function Notes({ results }: { results: SpotResults }) {
  const { totals, costsAsOf, holdings } = results;
  const isEstimated = holdings.some(({ estimatedQuantity }) => isPositive(estimatedQuantity));
  const isUnknown = holdings.some(({ quantity, knownQuantity }) => quantity !== knownQuantity);
  return (
    <div className={classes.notes}>
      <p>
        {t(
          "Values are at the fair prices of the markets, and every column adds up to the sum above. Stakes and the margin account are not part of it.",
        )}
      </p>
      {isUnknown && (
        <p>
          {costsAsOf === null
            ? t(
                "The cost of what came by a deposit, a conversion, a reward or a transfer is unknown, and it is in no result, until you record it for the account “exchange” among the tax lots.",
              )
            : t(
                "What came while it had no price has no known cost, and is in no result, until you record it for the account “exchange” among the tax lots.",
              )}
        </p>
      )}
      {isEstimated && (
        <p>
          {t(
            "The cost of what came from elsewhere is estimated: its fair price at that moment. The portfolio counts it at the last trade before, which may be a little more or less. It gives way to what you record for the account “exchange” among the tax lots.",
          )}
        </p>
      )}
      {totals.unpriced.length > 0 && (
        <p>{rich("Without a price, not counted: {unpriced}.", { unpriced: totals.unpriced.join(", ") })}</p>
      )}
      <CountedUntil results={results} />
    </div>
  );
}
