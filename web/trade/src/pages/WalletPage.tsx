import { Button, Tabs } from "@mantine/core";
import { ArrowDownIcon } from "@primer/octicons-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { floorTo, scaledText } from "#lib/scaled.ts";
import { useTickerPushes } from "../api/live.ts";
import { useBalances, useMarkets, useTickers } from "../api/queries.ts";
import { explainIfAny } from "../api/messages.ts";
import { PageLink } from "../parts/PageLink.tsx";
import { DEPOSIT_COLUMNS, depositActions, depositId } from "../deposits/columns.tsx";
import { useDeposits } from "../deposits/queries.ts";
import { amountName } from "../parts/amountName.ts";
import { MOVEMENT_COLUMNS, movementActions } from "../portfolio/columns.tsx";
import { useTransactions } from "../portfolio/queries.ts";
import { DepositDialog } from "../deposits/DepositDialog.tsx";
import { FundsNavigation } from "../parts/FundsNavigation.tsx";
import { type Holding, valueOf } from "../portfolio/valuation.ts";
import classes from "./WalletPage.module.css";

const UNIT = "USD";
const CENT = 10n ** 16n;

/** What the user owns and what it is worth, the way to deposit, and every movement. */
export default function WalletPage() {
  const balances = useBalances();
  const markets = useMarkets();
  const tickers = useTickers();
  const [, navigate] = useLocation();
  const [asset, setAsset] = useState<string | null>(null);
  const [tab, setTab] = useState<string | null>("balances");
  const priced = (markets.data ?? []).filter(({ quoteAsset }) => quoteAsset === UNIT);
  useTickerPushes(priced.map(({ symbol }) => symbol));
  const worth = valueOf(balances.data ?? [], tickers.data ?? [], UNIT);
  const columns: Column<Holding>[] = [
    { id: "asset", title: "Asset", cell: ({ balance }) => <strong>{balance.asset}</strong> },
    {
      id: "total",
      title: "Total",
      align: "right",
      cell: ({ balance }) => <Amount value={balance.total} unit={balance.asset} />,
    },
    {
      id: "free",
      title: "Free",
      align: "right",
      cell: ({ balance }) => <Amount value={balance.available} />,
    },
    {
      id: "held",
      title: "In orders",
      align: "right",
      cell: ({ balance }) => <Amount value={balance.locked} />,
    },
    {
      id: "value",
      title: "Value",
      align: "right",
      cell: ({ value }) =>
        value === null ? (
          "no price"
        ) : (
          <Amount value={scaledText(floorTo(value, CENT))} unit={UNIT} places={2} />
        ),
    },
    {
      id: "trade",
      title: "Trade",
      cell: ({ balance }) =>
        priced.some(({ symbol }) => symbol === `${balance.asset}-${UNIT}`) ? (
          <PageLink href={`/${balance.asset}-${UNIT}`}>
            {balance.asset}-{UNIT}
          </PageLink>
        ) : (
          ""
        ),
    },
  ];
  return (
    <div className={classes.page}>
      <PageHeader
        title="Wallet"
        actions={
          <Button leftSection={<ArrowDownIcon />} onClick={() => setAsset("")}>
            Deposit
          </Button>
        }
      >
        What you own, and every movement of it.
      </PageHeader>
      <FundsNavigation />
      <div className={classes.worth}>
        <Card title="Worth about">
          <p className={classes.total}>
            {balances.data ? (
              <Amount value={scaledText(floorTo(worth.total, CENT))} unit={UNIT} places={2} />
            ) : (
              "–"
            )}
          </p>
          <p className={classes.note}>
            By the last prices of the markets.
            {worth.unpriced.length > 0 && ` Without a price, not counted: ${worth.unpriced.join(", ")}.`}
          </p>
        </Card>
      </div>
      <Card flush>
        <Tabs value={tab} onChange={setTab} keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="balances">Balances</Tabs.Tab>
            <Tabs.Tab value="deposits">Deposits</Tabs.Tab>
            <Tabs.Tab value="movements">Movements</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="balances">
            <DataTable
              label="Balances"
              columns={columns}
              rows={balances.data ? worth.holdings : undefined}
              rowId={({ balance }) => balance.asset}
              rowName={({ balance }) => balance.asset}
              actions={({ balance }) => [
                { label: `Deposit ${balance.asset}`, onClick: () => setAsset(balance.asset) },
                {
                  label: `Withdraw ${balance.asset}`,
                  onClick: () => navigate(`/withdrawals?withdraw=${balance.asset}`),
                },
              ]}
              state={balances}
              problem={explainIfAny(balances.error)}
              empty={
                <EmptyState
                  title="No funds yet"
                  action={
                    <Button variant="default" onClick={() => setAsset("")}>
                      Make a deposit
                    </Button>
                  }
                >
                  A deposit appears here as soon as it is confirmed.
                </EmptyState>
              }
            />
          </Tabs.Panel>
          <Tabs.Panel value="deposits">
            <Deposits />
          </Tabs.Panel>
          <Tabs.Panel value="movements">
            <Movements />
          </Tabs.Panel>
        </Tabs>
      </Card>
      {asset !== null && <DepositDialog first={asset} onClose={() => setAsset(null)} />}
    </div>
  );
}

function Deposits() {
  const query = useDeposits();
  return (
    <DataTable
      label="Deposits"
      columns={DEPOSIT_COLUMNS}
      rows={query.data}
      rowId={depositId}
      rowName={amountName}
      actions={depositActions}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title="No deposits yet">What reaches your addresses appears here.</EmptyState>}
    />
  );
}

function Movements() {
  const query = useTransactions();
  return (
    <DataTable
      label="Movements"
      columns={MOVEMENT_COLUMNS}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ transactionId }) => transactionId}
      rowName={amountName}
      actions={movementActions}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title="No movements yet">Each change of a balance appears here.</EmptyState>}
      footer={<ShowOlder query={query} />}
    />
  );
}
