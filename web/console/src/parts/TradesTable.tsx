import { CopyIcon } from "@primer/octicons-react";
import type { ReactNode } from "react";
import type { AdminTrade } from "#gen/exchange/v1/admin_pb.ts";
import { Amount } from "#lib/components/Amount.tsx";
import { copyAndTell, CopyText } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { Pager } from "#lib/components/Pager.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import type { UrlState } from "#lib/urlState.ts";
import { type Places, type TradeFilter, useMarketPlaces, useTrades } from "../engine/queries.ts";
import { explainIfAny } from "../engine/messages.ts";
import { Side } from "./badges.tsx";
import { ParticipantLink } from "./ParticipantLink.tsx";

/** Enough to see a fee; the pointer shows all of its digits. */
const FEE_PLACES_MAX = 8;

function columnsOf(placesOf: (symbol: string) => Places): Column<AdminTrade>[] {
  return [
    { id: "trade", title: "Trade", cell: (trade) => <CopyText text={trade.tradeId} name="trade id" /> },
    { id: "symbol", title: "Symbol", cell: (trade) => trade.symbol },
    { id: "side", title: "Taker side", cell: (trade) => <Side side={trade.takerSide} /> },
    {
      id: "price",
      title: "Price",
      align: "right",
      cell: (trade) => <Amount value={trade.price} places={placesOf(trade.symbol).price} />,
    },
    {
      id: "quantity",
      title: "Quantity",
      align: "right",
      cell: (trade) => <Amount value={trade.quantity} places={placesOf(trade.symbol).quantity} />,
    },
    { id: "taker", title: "Taker", cell: (trade) => <ParticipantLink id={trade.takerParticipantId} /> },
    { id: "maker", title: "Maker", cell: (trade) => <ParticipantLink id={trade.makerParticipantId} /> },
    {
      id: "takerFee",
      title: "Taker fee",
      align: "right",
      cell: (trade) => <Amount value={trade.takerFee} unit={trade.feeCurrency} placesMax={FEE_PLACES_MAX} />,
    },
    {
      id: "makerFee",
      title: "Maker fee",
      align: "right",
      cell: (trade) => <Amount value={trade.makerFee} unit={trade.feeCurrency} placesMax={FEE_PLACES_MAX} />,
    },
    { id: "time", title: "Time", cell: (trade) => <TimeText milliseconds={trade.timestamp} /> },
  ];
}

interface TradesTableProps {
  filter: TradeFilter;
  url: UrlState;
  /** What stands above the table. */
  toolbar?: ReactNode;
}

/** Trades, newest first. */
export function TradesTable({ filter, url, toolbar }: TradesTableProps) {
  const query = useTrades(filter, url.page);
  const placesOf = useMarketPlaces();
  const isFiltered = Object.values(filter).some((value) => value !== "");
  return (
    <DataTable
      label="Trades"
      toolbar={toolbar}
      columns={columnsOf(placesOf)}
      rows={query.data?.trades}
      rowId={(trade) => trade.tradeId}
      rowName={(trade) => `trade ${trade.tradeId}`}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title={isFiltered ? "No trade matches" : "No trades yet"}>
          {isFiltered
            ? "Clear a filter to see more. The list reaches back as far as the engine keeps its newest events."
            : "A trade appears here as soon as two orders meet."}
        </EmptyState>
      }
      actions={(trade) =>
        [
          { label: "Copy trade id", text: trade.tradeId },
          { label: "Copy taker's order id", text: trade.takerOrderId },
          { label: "Copy maker's order id", text: trade.makerOrderId },
        ].map(({ label, text }) => ({
          label,
          icon: <CopyIcon />,
          onClick: () => copyAndTell(text),
        }))
      }
      footer={<Pager page={url.page} total={query.data?.total ?? 0} onChange={url.setPage} />}
    />
  );
}
