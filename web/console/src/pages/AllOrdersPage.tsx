import { CopyIcon, PersonIcon, XCircleIcon } from "@primer/octicons-react";
import { useState } from "react";
import { useLocation } from "wouter";
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
import { useCan } from "../operator/session.ts";
import { EDGE_ORDER_STATUSES, OrderStatus, Side } from "../parts/badges.tsx";
import { CancelUserOrderDialog } from "../parts/CancelUserOrderDialog.tsx";
import { ChoiceFilter } from "../parts/filters.tsx";
import { NothingFits } from "../parts/NothingFits.tsx";
import { ORDERS_MAX, OrdersBulk } from "../parts/OrdersBulk.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { choiceColumn, useSelection } from "../parts/selection.tsx";
import { TradingFilters } from "../parts/TradingFilters.tsx";
import { AccountLink } from "../parts/UserLink.tsx";
import { useGrowingList } from "../people/queries.ts";
import { keptFromCancel, type ListedOrder, ownerOf, STILL_OPEN, tradingQuery } from "../people/trading.ts";

const STATUSES = [{ value: STILL_OPEN, label: "Still open" }, ...EDGE_ORDER_STATUSES];
const NONE: readonly ListedOrder[] = [];
const idOf = ({ orderId }: ListedOrder) => orderId;
const nameOf = ({ orderId }: ListedOrder) => `order ${orderId}`;

const COLUMNS: readonly Column<ListedOrder>[] = [
  { id: "made", title: "Made", cell: (row) => <TimeText milliseconds={Date.parse(row.createdAt)} /> },
  { id: "user", title: "User", cell: (row) => <AccountLink id={row.userId} /> },
  { id: "id", title: "Order", cell: (row) => <span className="figures">{row.orderId}</span> },
  { id: "symbol", title: "Market", cell: (row) => row.symbol },
  { id: "side", title: "Side", cell: (row) => <Side side={row.side} /> },
  { id: "type", title: "Type", cell: (row) => row.type },
  {
    id: "price",
    title: "Price",
    align: "right",
    cell: (row) => (row.price === null ? "–" : <Amount value={row.price} />),
  },
  { id: "quantity", title: "Quantity", align: "right", cell: (row) => <Amount value={row.quantity} /> },
  { id: "filled", title: "Filled", align: "right", cell: (row) => <Amount value={row.filledQuantity} /> },
  { id: "status", title: "Status", isPinned: true, cell: (row) => <OrderStatus status={row.status} /> },
];

/** The orders of all users, in every state, with the ways to cancel them. */
export function AllOrdersPage() {
  const url = useUrlState();
  const can = useCan();
  const [, navigate] = useLocation();
  const [cancelled, setCancelled] = useState<ListedOrder | null>(null);
  const status = url.parameter("status");
  const given = { ...tradingQuery(url.parameter), ...(status === "" ? {} : { status }) };
  const isFiltered = Object.keys(given).length > 0;
  const { query, rows } = useGrowingList<ListedOrder>(["all orders", given], ({ rest }, place, signal) =>
    slice(rest.GET("/api/v1/operator/orders", { params: { query: { ...given, ...place } }, signal })),
  );
  const selection = useSelection((rows ?? NONE).map(idOf), ORDERS_MAX);
  return (
    <>
      <PageHeader
        title="All orders"
        actions={
          <>
            <SavedViews page="all-orders" />
            <SaveAsFile path="orders" name="orders" needs="trades.export" given={given} />
          </>
        }
      >
        Every order of every user, open or not, the newest first, a moment after the engine has it.
      </PageHeader>
      <Card flush>
        <DataTable
          label="All orders"
          toolbar={
            <>
              <TradingFilters url={url} side="Side" isFiltered={isFiltered} cleared={{ status: null }}>
                <ChoiceFilter
                  label="Status"
                  any="Any status"
                  value={status}
                  choices={STATUSES}
                  onChange={(value) => url.change({ status: value })}
                />
              </TradingFilters>
              <OrdersBulk selection={selection} orders={rows ?? NONE} />
            </>
          }
          columns={[choiceColumn(selection, idOf, nameOf), ...COLUMNS]}
          rows={rows}
          rowId={idOf}
          rowName={nameOf}
          state={query}
          problem={explainIfAny(query.error)}
          empty={<NothingFits noun="order" isFiltered={isFiltered} hasMore={query.hasNextPage} />}
          actions={(row) => [
            {
              label: "Cancel the order…",
              icon: <XCircleIcon />,
              danger: true,
              disabledReason: can("orders.cancel_any")
                ? keptFromCancel(row)
                : "This needs the permission orders.cancel_any.",
              onClick: () => setCancelled(row),
            },
            {
              label: "Open user",
              icon: <PersonIcon />,
              disabledReason: !can("users.read")
                ? "This needs the permission users.read."
                : ownerOf(row.userId) === null
                  ? "The order is the house's own."
                  : undefined,
              onClick: () => navigate(`/users/${encodeURIComponent(ownerOf(row.userId) ?? row.userId)}`),
            },
            { label: "Copy order id", icon: <CopyIcon />, onClick: () => copyAndTell(row.orderId) },
          ]}
          footer={<ShowOlder query={query} />}
        />
      </Card>
      {cancelled && <CancelUserOrderDialog order={cancelled} onClose={() => setCancelled(null)} />}
    </>
  );
}
