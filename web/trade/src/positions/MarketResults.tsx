import type { ReactNode } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { rich, t } from "#lib/language.ts";
import { arrange, useUrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../api/messages.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { CountedUntil } from "./CountedUntil.tsx";
import classes from "./HoldingList.module.css";
import { Unrealised } from "./HoldingList.tsx";
import { hasOther, type MarketRow, marketRows, withOther } from "./markets.ts";
import type { Period } from "./periods.ts";
import { type Owner, type SpotMarket, useSpotMarkets } from "./queries.ts";
import { Result } from "./Result.tsx";
import { compareKnown } from "./spot.ts";

const baseOf = (symbol: string) => symbol.split("-")[0] ?? "";
const quoteOf = (symbol: string) => symbol.split("-")[1] ?? "";

function columnsOf(currency: string, period: Period): Column<MarketRow>[] {
  const money = (value: string) => <Amount value={value} unit={currency} places={2} />;
  return [
    {
      id: "market",
      title: t("Market"),
      cell: ({ market }) => <strong>{market ? market.symbol : t("Outside the markets")}</strong>,
      compare: (a, b) => nameOf(a).localeCompare(nameOf(b), "en"),
    },
    {
      id: "fills",
      title: t("Fills"),
      align: "right",
      cell: ofMarket(({ fills }) => <Amount value={String(fills)} />),
      compare: (a, b) => (a.market?.fills ?? 0) - (b.market?.fills ?? 0),
    },
    {
      id: "bought",
      title: t("Bought"),
      align: "right",
      cell: ofMarket(({ symbol, boughtQuantity, boughtNotional, averageBuyPrice }) => (
        <Traded symbol={symbol} quantity={boughtQuantity} notional={boughtNotional} price={averageBuyPrice} />
      )),
    },
    {
      id: "sold",
      title: t("Sold"),
      align: "right",
      cell: ofMarket(({ symbol, soldQuantity, soldNotional, averageSellPrice }) => (
        <Traded symbol={symbol} quantity={soldQuantity} notional={soldNotional} price={averageSellPrice} />
      )),
    },
    {
      id: "fees",
      title: t("Fees"),
      align: "right",
      cell: ofMarket(({ symbol, fees }) => <AssetAmount value={fees} asset={quoteOf(symbol)} />),
    },
    {
      id: "held",
      title: t("Still held"),
      align: "right",
      cell: ofHeld(({ symbol }, held) => <AssetAmount value={held} asset={baseOf(symbol)} />),
    },
    {
      id: "average",
      title: t("Average cost"),
      align: "right",
      cell: ofHeld(({ averageCost }) =>
        averageCost === null ? "–" : <AssetAmount value={averageCost} asset={currency} />,
      ),
    },
    {
      id: "value",
      title: t("Value"),
      align: "right",
      cell: ofHeld(({ value }) => (value === null ? t("no price") : money(value))),
      compare: (a, b) => compareKnown(a.market?.value ?? null, b.market?.value ?? null),
    },
    {
      id: "cost",
      title: t("Cost"),
      align: "right",
      cell: ofHeld(({ cost }) => (cost === null ? "–" : money(cost))),
      compare: (a, b) => compareKnown(a.market?.cost ?? null, b.market?.cost ?? null),
    },
    {
      id: "unrealised",
      title: t("Unrealised"),
      align: "right",
      cell: ofHeld(({ unrealisedPnl, unrealisedPercent }) => (
        <Unrealised value={unrealisedPnl} percent={unrealisedPercent} currency={currency} isKnown />
      )),
      compare: (a, b) => compareKnown(a.market?.unrealisedPnl ?? null, b.market?.unrealisedPnl ?? null),
    },
    {
      id: "realised",
      title: t("Realised"),
      align: "right",
      cell: ({ realisedPnl }) => <Result value={realisedPnl[period]} unit={currency} />,
      compare: (a, b) => compareKnown(a.realisedPnl[period], b.realisedPnl[period]),
    },
  ];
}

/** What was bought or sold: the quantity, what was paid for it, and what one cost on average. */
function Traded({
  symbol,
  quantity,
  notional,
  price,
}: {
  symbol: string;
  quantity: string;
  notional: string;
  price: string | null;
}) {
  if (price === null) return "–";
  return (
    <span className={classes.stacked}>
      <AssetAmount value={quantity} asset={baseOf(symbol)} />
      <span className={classes.detail}>
        <AssetAmount value={notional} asset={quoteOf(symbol)} />
      </span>
      <span className={classes.detail}>
        {rich("at {price} on average", { price: <AssetAmount value={price} asset={quoteOf(symbol)} /> })}
      </span>
    </span>
  );
}

const nameOf = ({ market }: MarketRow) => market?.symbol ?? "";

/** A cell of a market, empty for what is of none. */
function ofMarket(cell: (market: SpotMarket) => ReactNode) {
  return ({ market }: MarketRow) => (market ? cell(market) : "–");
}

/** A cell of what is still held, empty where that has no cost of its own. */
function ofHeld(cell: (market: SpotMarket, held: string) => ReactNode) {
  return ofMarket((market) => (market.heldQuantity === null ? "–" : cell(market, market.heldQuantity)));
}

/** What came of the fills on each market, and what is still held of what was bought there. */
export default function MarketResults({ owner, period }: { owner: Owner; period: Period }) {
  const query = useSpotMarkets(owner);
  const { sort, toggleSort } = useUrlState();
  const { data } = query;
  const columns = columnsOf(data?.currency ?? "", period);
  const compare = columns.find(({ id }) => id === sort?.column)?.compare;
  const markets = data && marketRows(data);
  const all = { index: 0, size: markets?.length ?? 0 };
  return (
    <DataTable
      label={t("Results by market")}
      columns={columns}
      rows={markets && withOther(arrange(markets, compare, sort?.descending ?? false, all), data)}
      rowId={nameOf}
      rowName={nameOf}
      sort={sort}
      onSort={toggleSort}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title={t("No fills yet")}>
          {t("What you buy and sell on the markets of this exchange appears here, with its result.")}
        </EmptyState>
      }
      footer={
        data && (
          <div className={classes.notes}>
            {hasOther(data) && (
              <p>
                {rich(
                  "{outside} is what conversions, payments and recorded transactions realised, and the cents that are cut by market and by asset. With it, the column of realised results adds up to the sum above.",
                  { outside: <strong>{t("Outside the markets")}</strong> },
                )}
              </p>
            )}
            <p>
              {t(
                "Still held is what was bought on the market itself. What came otherwise is in the list by asset alone.",
              )}
            </p>
            <CountedUntil results={data} />
          </div>
        )
      }
    />
  );
}
