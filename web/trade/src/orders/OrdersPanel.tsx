import { Button, SegmentedControl, Tabs } from "@mantine/core";
import { memo, useState } from "react";
import { Link } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { plural } from "#lib/counts.ts";
import { placesOf } from "#lib/decimal.ts";
import { divideScaled, toScaled } from "#lib/scaled.ts";
import {
  type Balance,
  type Fill,
  type Market,
  type Order,
  useBalances,
  useFills,
  useMarkets,
  useOpenOrders,
  useOrderHistory,
} from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { explain, explainIfAny } from "../messages.ts";
import { SideBadge, StatusBadge } from "./labels.tsx";
import { PageLink } from "../parts/PageLink.tsx";
import classes from "./OrdersPanel.module.css";
import { useCancelAll, useCancelOrder } from "./placing.ts";

/** The user's orders, fills and balances, of one market or of all. */
export const OrdersPanel = memo(function OrdersPanel({ symbol }: { symbol: string }) {
  const { session } = useSession();
  const [tab, setTab] = useState<string | null>("open");
  const [scope, setScope] = useState("all");
  const open = useOpenOrders();
  const only = scope === "all" ? undefined : symbol;
  if (session === null) {
    return (
      <section className={classes.panel} aria-label="Your orders">
        <EmptyState
          title="Log in to see your orders"
          action={
            <Button component={Link} href={`/login?next=/${symbol}`} variant="default">
              Log in
            </Button>
          }
        >
          Open orders, fills and balances of your account appear here, live.
        </EmptyState>
      </section>
    );
  }
  return (
    <section className={classes.panel} aria-label="Your orders">
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <div className={classes.head}>
          <Tabs.List className={classes.tabs}>
            <Tabs.Tab value="open">Open orders{open.data ? ` (${open.data.length})` : ""}</Tabs.Tab>
            <Tabs.Tab value="history">History</Tabs.Tab>
            <Tabs.Tab value="fills">Fills</Tabs.Tab>
            <Tabs.Tab value="balances">Balances</Tabs.Tab>
          </Tabs.List>
          {tab !== "balances" && (
            <SegmentedControl
              size="xs"
              aria-label="Markets shown"
              data={[
                { value: "all", label: "All markets" },
                { value: "one", label: symbol },
              ]}
              value={scope}
              onChange={setScope}
            />
          )}
        </div>
        <Tabs.Panel value="open">
          <OpenOrders only={only} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <History only={only} />
        </Tabs.Panel>
        <Tabs.Panel value="fills">
          <Fills only={only} />
        </Tabs.Panel>
        <Tabs.Panel value="balances">
          <Balances />
        </Tabs.Panel>
      </Tabs>
    </section>
  );
});

/** Digits of prices and quantities by market. */
function usePlaces(): (symbol: string) => { price: number; quantity: number } {
  const { data = [] } = useMarkets();
  const bySymbol = new Map<string, Market>(data.map((market) => [market.symbol, market]));
  return (symbol) => {
    const market = bySymbol.get(symbol);
    return { price: placesOf(market?.tickSize ?? ""), quantity: placesOf(market?.lotSize ?? "") };
  };
}

function orderColumns(places: ReturnType<typeof usePlaces>): Column<Order>[] {
  return [
    {
      id: "time",
      title: "Time",
      cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
    },
    {
      id: "market",
      title: "Market",
      cell: ({ symbol }) => <PageLink href={`/${symbol}`}>{symbol}</PageLink>,
    },
    { id: "side", title: "Side", cell: ({ side }) => <SideBadge side={side} /> },
    { id: "type", title: "Type", cell: ({ type, timeInForce }) => typeText(type, timeInForce) },
    {
      id: "price",
      title: "Price",
      align: "right",
      cell: ({ price, symbol }) =>
        price ? <Amount value={price} places={places(symbol).price} /> : "market",
    },
    {
      id: "quantity",
      title: "Amount",
      align: "right",
      cell: ({ quantity, symbol }) => <Amount value={quantity} unit={symbol.split("-")[0]} />,
    },
    {
      id: "filled",
      title: "Filled",
      align: "right",
      cell: ({ filledQuantity, quantity }) => (
        <span>
          <Amount value={filledQuantity} />{" "}
          <span className={classes.part}>{percentOf(filledQuantity, quantity)}</span>
        </span>
      ),
    },
    {
      id: "average",
      title: "Average",
      align: "right",
      cell: ({ averagePrice, symbol }) =>
        averagePrice ? <Amount value={averagePrice} places={places(symbol).price} /> : "–",
    },
  ];
}

function typeText(type: string, timeInForce: string): string {
  const name = type === "limit" ? "Limit" : type === "market" ? "Market" : type.replace("_", " ");
  return timeInForce === "gtc" ? name : `${name}, ${timeInForce.toUpperCase()}`;
}

function percentOf(part: string, whole: string): string {
  const total = toScaled(whole);
  if (total === 0n) return "";
  const tenths = divideScaled(toScaled(part) * 1000n, total) / 10n ** 18n;
  return `${tenths / 10n}${tenths % 10n ? `.${tenths % 10n}` : ""} %`;
}

function OpenOrders({ only }: { only: string | undefined }) {
  const query = useOpenOrders();
  const places = usePlaces();
  const cancel = useCancelOrder();
  const [asks, setAsks] = useState(false);
  const rows = query.data?.filter(({ symbol }) => only === undefined || symbol === only);
  const columns: Column<Order>[] = [
    ...orderColumns(places),
    {
      id: "cancel",
      title: "Cancel",
      align: "right",
      cell: (order) => (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Cancel ${nameOf(order)}`}
          loading={cancel.isPending && cancel.variables.orderId === order.orderId}
          onClick={() => cancel.mutate(order)}
        >
          Cancel
        </Button>
      ),
    },
  ];
  return (
    <>
      <DataTable
        label="Open orders"
        toolbar={
          <Button
            size="compact-sm"
            variant="default"
            disabled={!rows || rows.length === 0}
            onClick={() => setAsks(true)}
          >
            Cancel all
          </Button>
        }
        columns={columns}
        rows={rows}
        rowId={({ orderId }) => orderId}
        rowName={nameOf}
        actions={orderActions}
        state={query}
        problem={explainIfAny(query.error)}
        empty={<EmptyState title="No open orders">Orders that wait in the book appear here.</EmptyState>}
      />
      {asks && <CancelAllDialog only={only} count={rows?.length ?? 0} onClose={() => setAsks(false)} />}
    </>
  );
}

function CancelAllDialog({
  only,
  count,
  onClose,
}: {
  only: string | undefined;
  count: number;
  onClose: () => void;
}) {
  const cancelAll = useCancelAll(onClose);
  return (
    <ConfirmDialog
      title={only ? `Cancel all orders on ${only}?` : "Cancel all orders?"}
      operator=""
      confirm={`Cancel ${plural(count, "order")}`}
      danger
      isBusy={cancelAll.isPending}
      problem={cancelAll.error ? explain(cancelAll.error) : null}
      onConfirm={() => cancelAll.mutate(only)}
      onClose={onClose}
    >
      <p>What they have filled so far stays. What they hold becomes free again.</p>
    </ConfirmDialog>
  );
}

const nameOf = ({ side, quantity, symbol, price }: Order) =>
  `${side} ${quantity} ${symbol}${price ? ` at ${price}` : ""}`;

const orderActions = ({ orderId, clientOrderId }: Order) => [
  { label: "Copy order id", onClick: () => copyAndTell(orderId) },
  ...(clientOrderId ? [{ label: "Copy client order id", onClick: () => copyAndTell(clientOrderId) }] : []),
];

function History({ only }: { only: string | undefined }) {
  const query = useOrderHistory(only);
  const places = usePlaces();
  const columns: Column<Order>[] = [
    ...orderColumns(places),
    {
      id: "fee",
      title: "Fee",
      align: "right",
      cell: ({ fee, feeCurrency }) => <Amount value={fee} unit={feeCurrency} />,
    },
    {
      id: "status",
      title: "State",
      cell: ({ status, rejectReason }) => (
        <span title={rejectReason ?? undefined}>
          <StatusBadge status={status} />
        </span>
      ),
    },
  ];
  return (
    <DataTable
      label="Order history"
      columns={columns}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ orderId }) => orderId}
      rowName={nameOf}
      actions={orderActions}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title="No orders have ended yet">Filled and cancelled orders appear here.</EmptyState>
      }
      footer={<ShowOlder query={query} />}
    />
  );
}

function Fills({ only }: { only: string | undefined }) {
  const query = useFills(only);
  const places = usePlaces();
  const columns: Column<Fill>[] = [
    {
      id: "time",
      title: "Time",
      cell: ({ executedAt }) => <TimeText milliseconds={Date.parse(executedAt)} />,
    },
    {
      id: "market",
      title: "Market",
      cell: ({ symbol }) => <PageLink href={`/${symbol}`}>{symbol}</PageLink>,
    },
    { id: "side", title: "Side", cell: ({ side }) => <SideBadge side={side} /> },
    {
      id: "price",
      title: "Price",
      align: "right",
      cell: ({ price, symbol }) => <Amount value={price} places={places(symbol).price} />,
    },
    {
      id: "quantity",
      title: "Amount",
      align: "right",
      cell: ({ quantity, symbol }) => <Amount value={quantity} unit={symbol.split("-")[0]} />,
    },
    {
      id: "fee",
      title: "Fee",
      align: "right",
      cell: ({ fee, feeCurrency }) => <Amount value={fee} unit={feeCurrency} />,
    },
    { id: "role", title: "Role", cell: ({ role }) => (role === "maker" ? "Maker" : "Taker") },
  ];
  return (
    <DataTable
      label="Fills"
      columns={columns}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ tradeId, orderId }) => `${tradeId} ${orderId}`}
      rowName={({ side, quantity, symbol }) => `${side} ${quantity} ${symbol}`}
      actions={({ tradeId, orderId }) => [
        { label: "Copy trade id", onClick: () => copyAndTell(tradeId) },
        { label: "Copy order id", onClick: () => copyAndTell(orderId) },
      ]}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title="No fills yet">Each trade of your orders appears here.</EmptyState>}
      footer={<ShowOlder query={query} />}
    />
  );
}

const BALANCE_COLUMNS: Column<Balance>[] = [
  { id: "asset", title: "Asset", cell: ({ asset }) => asset },
  {
    id: "total",
    title: "Total",
    align: "right",
    cell: ({ total, asset }) => <Amount value={total} unit={asset} />,
  },
  {
    id: "free",
    title: "Free",
    align: "right",
    cell: ({ available, asset }) => <Amount value={available} unit={asset} />,
  },
  {
    id: "held",
    title: "In orders",
    align: "right",
    cell: ({ locked, asset }) => <Amount value={locked} unit={asset} />,
  },
];

function Balances() {
  const query = useBalances();
  return (
    <DataTable
      label="Balances"
      columns={BALANCE_COLUMNS}
      rows={query.data}
      rowId={({ asset }) => asset}
      rowName={({ asset }) => asset}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title="No funds yet">A deposit appears here as soon as it is confirmed.</EmptyState>}
    />
  );
}
