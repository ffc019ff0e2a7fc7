import { SegmentedControl, Tabs } from "@mantine/core";
import type { ComponentType } from "react";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { type Balance, useBalances, useFills, useOpenOrders } from "../api/queries.ts";
import { slice, useExchange } from "../api/client.ts";
import { useGrowingList } from "../api/lists.ts";
import type { OpenOrders as OpenOrderList } from "../api/live.ts";
import { explainIfAny } from "../api/messages.ts";
import {
  ENDED_ORDER_CARD,
  endedOrderColumns,
  FILL_CARD,
  fillActions,
  fillColumns,
  fillId,
  fillName,
  orderActions,
  usePlaces,
} from "./columns.tsx";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { PageLink } from "../parts/PageLink.tsx";
import { ReservedAmount } from "../parts/ReservedAmount.tsx";
import classes from "./OrdersPanel.module.css";
import { OpenOrders } from "./OpenOrders.tsx";
import { orderName } from "./orderName.ts";

/** What the panel shows. */
export interface ShownOrders {
  tab: string | null;
  scope: string;
}

interface OrderTabsProps {
  symbol: string;
  /** It is kept above: a window that becomes a phone's has another panel. */
  shown: ShownOrders;
  onShown: (shown: ShownOrders) => void;
  /** What is held, or in margin mode the margin positions. It is loaded when its tab is opened. */
  Positions: ComponentType<{ only: string | undefined }>;
  /** The balances that count in margin mode; undefined in the other. */
  MarginBalances: ComponentType | undefined;
}

/** The user's orders, fills and balances, of one market or of all. A page without a session does not load it. */
export default function OrderTabs({ symbol, shown, onShown, Positions, MarginBalances }: OrderTabsProps) {
  const { tab, scope } = shown;
  const open = useOpenOrders();
  const only = scope === "all" ? undefined : symbol;
  return (
    <Tabs value={tab} onChange={(next) => onShown({ ...shown, tab: next })} keepMounted={false}>
      <div className={classes.head}>
        <Tabs.List className={classes.tabs}>
          <Tabs.Tab value="open">
            {open.data ? t("Open orders ({count})", { count: countOf(open.data) }) : t("Open orders")}
          </Tabs.Tab>
          <Tabs.Tab value="positions">{t("Positions")}</Tabs.Tab>
          <Tabs.Tab value="history">{t("History")}</Tabs.Tab>
          <Tabs.Tab value="fills">{t("Fills")}</Tabs.Tab>
          <Tabs.Tab value="balances">{t("Balances")}</Tabs.Tab>
        </Tabs.List>
        <SegmentedControl
          size="xs"
          aria-label={t("Markets shown")}
          className={classes.scope ?? ""}
          // Balances are of no market. It keeps its place: to make it anew measures the whole page.
          data-unused={tab === "balances" || undefined}
          data={[
            { value: "all", label: t("All markets") },
            { value: "one", label: symbol },
          ]}
          value={scope}
          onChange={(next) => onShown({ ...shown, scope: next })}
        />
      </div>
      <Tabs.Panel value="open">
        <OpenOrders only={only} />
      </Tabs.Panel>
      <Tabs.Panel value="positions">
        <Positions only={only} />
      </Tabs.Panel>
      <Tabs.Panel value="history">
        <History only={only} />
      </Tabs.Panel>
      <Tabs.Panel value="fills">
        <Fills only={only} />
      </Tabs.Panel>
      <Tabs.Panel value="balances">{MarginBalances ? <MarginBalances /> : <Balances />}</Tabs.Panel>
    </Tabs>
  );
}

const countOf = ({ orders, hasOlder }: OpenOrderList) => `${orders.length}${hasOlder ? "+" : ""}`;

function useOrderHistory(symbol: string | undefined) {
  const { rest } = useExchange();
  return useGrowingList(["orders", "history", symbol], (position, signal) => {
    const query = { ...position, ...(symbol ? { symbol } : {}) };
    return slice(rest.GET("/api/v1/orders/history", { params: { query }, signal }));
  });
}

function History({ only }: { only: string | undefined }) {
  const query = useOrderHistory(only);
  const places = usePlaces();
  return (
    <DataTable
      label={t("Order history")}
      toolbar={<PageLink href="/history">{t("All of it, with filters and a file")}</PageLink>}
      columns={endedOrderColumns(places)}
      card={ENDED_ORDER_CARD}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ orderId }) => orderId}
      rowName={orderName}
      actions={orderActions}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title={t("No orders have ended yet")}>
          {t("Filled and cancelled orders appear here.")}
        </EmptyState>
      }
      footer={<ShowOlder query={query} />}
    />
  );
}

function Fills({ only }: { only: string | undefined }) {
  const query = useFills(only);
  const places = usePlaces();
  return (
    <DataTable
      label={t("Fills")}
      toolbar={<PageLink href="/history?list=fills">{t("All of them, with filters and a file")}</PageLink>}
      columns={fillColumns(places)}
      card={FILL_CARD}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={fillId}
      rowName={fillName}
      actions={fillActions}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title={t("No fills yet")}>{t("Each trade of your orders appears here.")}</EmptyState>
      }
      footer={<ShowOlder query={query} />}
    />
  );
}

const BALANCE_COLUMNS: Column<Balance>[] = [
  {
    id: "asset",
    get title() {
      return t("Asset");
    },
    cell: ({ asset }) => asset,
  },
  {
    id: "total",
    get title() {
      return t("Total");
    },
    align: "right",
    cell: ({ total, asset }) => <AssetAmount value={total} asset={asset} />,
  },
  {
    id: "free",
    get title() {
      return t("Free");
    },
    align: "right",
    cell: ({ available, asset }) => <AssetAmount value={available} asset={asset} />,
  },
  {
    id: "held",
    get title() {
      return t("In orders");
    },
    align: "right",
    cell: ({ locked, asset }) => <AssetAmount value={locked} asset={asset} />,
  },
  {
    id: "reserved",
    get title() {
      return t("Reserved");
    },
    align: "right",
    cell: ({ reserved, asset }) => <ReservedAmount value={reserved} asset={asset} />,
  },
];

function Balances() {
  const query = useBalances();
  return (
    <DataTable
      label={t("Balances")}
      columns={BALANCE_COLUMNS}
      rows={query.data}
      rowId={({ asset }) => asset}
      rowName={({ asset }) => asset}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title={t("No funds yet")}>
          {t("A deposit appears here as soon as it is confirmed.")}
        </EmptyState>
      }
    />
  );
}
