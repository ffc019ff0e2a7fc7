import { CopyIcon, PersonIcon, XCircleIcon } from "@primer/octicons-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import type { AdminOrder } from "#gen/exchange/v1/admin_pb.ts";
import { Amount } from "#lib/components/Amount.tsx";
import { copyAndTell, CopyText } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { Pager } from "#lib/components/Pager.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import type { UrlState } from "#lib/urlState.ts";
import { type OrderFilter, type Places, useMarketPlaces, useOrders } from "../engine/queries.ts";
import { explainIfAny } from "../engine/messages.ts";
import { OrderStatus, Side } from "./badges.tsx";
import { CancelOrderDialog } from "./CancelOrderDialog.tsx";
import { ParticipantLink } from "./ParticipantLink.tsx";

const OPEN = ["OPEN", "PARTIALLY_FILLED"];

function columnsOf(placesOf: (symbol: string) => Places, showsParticipant: boolean): Column<AdminOrder>[] {
  const participant: Column<AdminOrder> = {
    id: "participant",
    title: "Participant",
    cell: (order) => <ParticipantLink id={order.participantId} />,
  };
  return [
    {
      id: "order",
      title: "Order",
      cell: (order) => <CopyText text={order.orderId} name="order id" />,
    },
    ...(showsParticipant ? [participant] : []),
    { id: "symbol", title: "Symbol", cell: (order) => order.symbol },
    { id: "side", title: "Side", cell: (order) => <Side side={order.side} /> },
    { id: "type", title: "Type", cell: (order) => order.type },
    {
      id: "price",
      title: "Price",
      align: "right",
      cell: (order) => <Amount value={order.price} places={placesOf(order.symbol).price} />,
    },
    {
      id: "quantity",
      title: "Quantity",
      align: "right",
      cell: (order) => <Amount value={order.quantity} places={placesOf(order.symbol).quantity} />,
    },
    {
      id: "filled",
      title: "Filled",
      align: "right",
      cell: (order) => <Amount value={order.filledQuantity} places={placesOf(order.symbol).quantity} />,
    },
    {
      id: "remaining",
      title: "Remaining",
      align: "right",
      cell: (order) => <Amount value={order.remainingQuantity} places={placesOf(order.symbol).quantity} />,
    },
    {
      id: "status",
      title: "Status",
      isPinned: true,
      cell: (order) => <OrderStatus status={order.status} />,
    },
    { id: "created", title: "Created", cell: (order) => <TimeText milliseconds={order.createdAt} /> },
  ];
}

interface OrdersTableProps {
  filter: OrderFilter;
  url: UrlState;
  /** What stands above the table. */
  toolbar?: ReactNode;
  /** Whether rows name their participant; on its own page they need not. */
  showsParticipant?: boolean;
}

/** Orders by descending id, with the way to cancel one. */
export function OrdersTable({ filter, url, toolbar, showsParticipant = true }: OrdersTableProps) {
  const query = useOrders(filter, url.page);
  const placesOf = useMarketPlaces();
  const [, navigate] = useLocation();
  const [cancelled, setCancelled] = useState<AdminOrder | null>(null);
  // A participant's own page is no filter that could be cleared.
  const { participantId, ...others } = filter;
  const isFiltered = Object.values(showsParticipant ? filter : others).some((value) => value !== "");
  return (
    <>
      <DataTable
        label="Orders"
        toolbar={toolbar}
        columns={columnsOf(placesOf, showsParticipant)}
        rows={query.data?.orders}
        rowId={(order) => order.orderId}
        rowName={(order) => `order ${order.orderId}`}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={isFiltered ? "No order matches" : "No orders yet"}>
            {isFiltered
              ? "Clear a filter to see more. The engine remembers open orders and the newest of the ended ones."
              : `Orders appear here as soon as ${showsParticipant ? "a participant" : participantId} places one.`}
          </EmptyState>
        }
        actions={(order) => [
          {
            label: "Copy order id",
            icon: <CopyIcon />,
            onClick: () => copyAndTell(order.orderId),
          },
          ...(order.externalId
            ? [
                {
                  label: "Copy external id",
                  icon: <CopyIcon />,
                  onClick: () => copyAndTell(order.externalId),
                },
              ]
            : []),
          ...(showsParticipant
            ? [
                {
                  label: "Open participant",
                  icon: <PersonIcon />,
                  onClick: () => navigate(`/participants/${encodeURIComponent(order.participantId)}`),
                },
              ]
            : []),
          {
            label: "Force-cancel…",
            icon: <XCircleIcon />,
            danger: true,
            disabledReason: OPEN.includes(order.status) ? undefined : "Only open orders can be cancelled.",
            onClick: () => setCancelled(order),
          },
        ]}
        footer={<Pager page={url.page} total={query.data?.total ?? 0} onChange={url.setPage} />}
      />
      {cancelled && <CancelOrderDialog order={cancelled} onClose={() => setCancelled(null)} />}
    </>
  );
}
