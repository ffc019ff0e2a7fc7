import { CopyIcon } from "@primer/octicons-react";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../engine/messages.ts";
import { slice } from "../operator/client.ts";
import { Side } from "../parts/badges.tsx";
import { NothingFits } from "../parts/NothingFits.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { TradingFilters } from "../parts/TradingFilters.tsx";
import { AccountLink } from "../parts/UserLink.tsx";
import { useGrowingList } from "../people/queries.ts";
import { type ListedTrade, tradingQuery } from "../people/trading.ts";

/** Enough to see a fee; the pointer shows all of its digits. */
const FEE_PLACES_MAX = 8;
const idOf = ({ tradeId }: ListedTrade) => tradeId;

const fee = (value: string, unit: string) => <Amount value={value} unit={unit} placesMax={FEE_PLACES_MAX} />;

const COLUMNS: readonly Column<ListedTrade>[] = [
  { id: "at", title: "Executed", cell: (row) => <TimeText milliseconds={Date.parse(row.executedAt)} /> },
  { id: "symbol", title: "Market", cell: (row) => row.symbol },
  { id: "buyer", title: "Buyer", cell: (row) => <AccountLink id={row.buyerId} /> },
  { id: "seller", title: "Seller", cell: (row) => <AccountLink id={row.sellerId} /> },
  { id: "side", title: "Taker side", cell: (row) => <Side side={row.takerSide} /> },
  { id: "price", title: "Price", align: "right", cell: (row) => <Amount value={row.price} /> },
  { id: "quantity", title: "Quantity", align: "right", cell: (row) => <Amount value={row.quantity} /> },
  { id: "takerFee", title: "Taker fee", align: "right", cell: (row) => fee(row.takerFee, row.feeCurrency) },
  { id: "makerFee", title: "Maker fee", align: "right", cell: (row) => fee(row.makerFee, row.feeCurrency) },
  { id: "id", title: "Trade", cell: (row) => <span className="figures">{row.tradeId}</span> },
];

/** The trades of all users, with both sides of each. */
export function AllTradesPage() {
  const url = useUrlState();
  const given = tradingQuery(url.parameter);
  const isFiltered = Object.keys(given).length > 0;
  const { query, rows } = useGrowingList<ListedTrade>(["all trades", given], ({ rest }, place, signal) =>
    slice(rest.GET("/api/v1/operator/trades", { params: { query: { ...given, ...place } }, signal })),
  );
  return (
    <>
      <PageHeader
        title="All trades"
        actions={
          <>
            <SavedViews page="all-trades" />
            <SaveAsFile path="trades" name="trades" needs="trades.export" given={given} />
          </>
        }
      >
        Every trade of every user, the newest first. A maker fee below zero is a rebate.
      </PageHeader>
      <Card flush>
        <DataTable
          label="All trades"
          toolbar={<TradingFilters url={url} side="Taker side" isFiltered={isFiltered} />}
          columns={COLUMNS}
          rows={rows}
          rowId={idOf}
          rowName={(row) => `trade ${row.tradeId}`}
          state={query}
          problem={explainIfAny(query.error)}
          empty={<NothingFits noun="trade" isFiltered={isFiltered} hasMore={query.hasNextPage} />}
          actions={(row) => [
            { label: "Copy trade id", icon: <CopyIcon />, onClick: () => copyAndTell(row.tradeId) },
            {
              label: "Copy taker order id",
              icon: <CopyIcon />,
              onClick: () => copyAndTell(row.takerOrderId),
            },
            {
              label: "Copy maker order id",
              icon: <CopyIcon />,
              onClick: () => copyAndTell(row.makerOrderId),
            },
          ]}
          footer={<ShowOlder query={query} />}
        />
      </Card>
    </>
  );
}
