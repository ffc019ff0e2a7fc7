import { Button, Tabs } from "@mantine/core";
import { ArrowDownIcon } from "@primer/octicons-react";
import { useMemo, useState } from "react";
import { useLocation } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { CoinSign } from "#lib/components/CoinSign.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { useUrlState } from "#lib/urlState.ts";
import { floorTo, scaledText } from "#lib/scaled.ts";
import { explainIfAny } from "../api/messages.ts";
import { useMarkets } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { logosOf } from "../parts/logos.ts";
import { PageLink } from "../parts/PageLink.tsx";
import { ReservedAmount } from "../parts/ReservedAmount.tsx";
import { DEPOSIT_COLUMNS, depositActions, depositId } from "../deposits/columns.tsx";
import { useDeposits } from "../deposits/queries.ts";
import { amountName } from "../parts/amountName.ts";
import { MOVEMENT_COLUMNS, movementActions } from "../portfolio/columns.tsx";
import { useTransactions } from "../portfolio/queries.ts";
import { DepositDialog } from "../deposits/DepositDialog.tsx";
import { FundsNavigation } from "../parts/FundsNavigation.tsx";
import type { Holding } from "../portfolio/valuation.ts";
import classes from "./WalletPage.module.css";
import { UNIT, useWorth, WorthCard } from "./Worth.tsx";

const FirstSteps = late(() => import("../onboarding/FirstSteps.tsx"));

/** In the address: the dialog without an asset chosen. */
const ANY_ASSET = "any";
const CENT = 10n ** 16n;

/** What the user owns and what it is worth, the way to deposit, and every movement. */
export default function WalletPage() {
  const worth = useWorth();
  const { balances, wallet, symbols } = worth;
  const markets = useMarkets().data;
  const logos = useMemo(() => logosOf(markets ?? []), [markets]);
  const [, navigate] = useLocation();
  const { session } = useSession();
  const { parameter, change } = useUrlState();
  // The dialog is in the address, so that other pages can open it.
  const asked = parameter("deposit");
  const deposit = (asset: string | null) => change({ deposit: asset });
  const [tab, setTab] = useState<string | null>("balances");
  const columns: Column<Holding>[] = [
    {
      id: "asset",
      title: t("Asset"),
      cell: ({ balance }) => (
        <>
          <CoinSign asset={balance.asset} logo={logos.get(balance.asset) ?? ""} />{" "}
          <strong>{balance.asset}</strong>
        </>
      ),
    },
    {
      id: "total",
      title: t("Total"),
      align: "right",
      cell: ({ balance }) => <AssetAmount value={balance.total} asset={balance.asset} />,
    },
    {
      id: "free",
      title: t("Free"),
      align: "right",
      cell: ({ balance }) => <AssetAmount value={balance.available} asset={balance.asset} hasUnit={false} />,
    },
    {
      id: "held",
      title: t("In orders"),
      align: "right",
      cell: ({ balance }) => <AssetAmount value={balance.locked} asset={balance.asset} hasUnit={false} />,
    },
    {
      id: "reserved",
      title: t("Reserved"),
      align: "right",
      cell: ({ balance }) => (
        <ReservedAmount value={balance.reserved} asset={balance.asset} hasUnit={false} />
      ),
    },
    {
      id: "value",
      title: t("Value"),
      align: "right",
      cell: ({ value }) =>
        value === null ? (
          t("no price")
        ) : (
          <Amount value={scaledText(floorTo(value, CENT))} unit={UNIT} places={2} />
        ),
    },
    {
      id: "trade",
      title: t("Trade"),
      cell: ({ balance }) =>
        symbols.includes(`${balance.asset}-${UNIT}`) ? (
          <PageLink href={`/${balance.asset}-${UNIT}`}>
            {balance.asset}-{UNIT}
          </PageLink>
        ) : (
          "–"
        ),
    },
  ];
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("Wallet")}
        actions={
          <Button leftSection={<ArrowDownIcon />} onClick={() => deposit(ANY_ASSET)}>
            {t("Deposit")}
          </Button>
        }
      >
        {t("What you own, and every movement of it.")}
      </PageHeader>
      <FundsNavigation />
      {session && <FirstSteps key={session.userId} userId={session.userId} className={classes.worth} />}
      <div className={classes.worth}>
        <WorthCard worth={worth} />
      </div>
      <Card flush>
        <Tabs value={tab} onChange={setTab} keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="balances">{t("Balances")}</Tabs.Tab>
            <Tabs.Tab value="deposits">{t("Deposits")}</Tabs.Tab>
            <Tabs.Tab value="movements">{t("Movements")}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="balances">
            <DataTable
              label={t("Balances")}
              columns={columns}
              rows={balances.data ? wallet.holdings : undefined}
              rowId={({ balance }) => balance.asset}
              rowName={({ balance }) => balance.asset}
              actions={({ balance }) => [
                {
                  label: t("Deposit {asset}", { asset: balance.asset }),
                  onClick: () => deposit(balance.asset),
                },
                {
                  label: t("Withdraw {asset}", { asset: balance.asset }),
                  onClick: () => navigate(`/withdrawals?withdraw=${balance.asset}`),
                },
              ]}
              state={balances}
              problem={explainIfAny(balances.error)}
              empty={
                <EmptyState
                  title={t("No funds yet")}
                  action={
                    <Button variant="default" onClick={() => deposit(ANY_ASSET)}>
                      {t("Make a deposit")}
                    </Button>
                  }
                >
                  {t("A deposit appears here as soon as it is confirmed.")}
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
      {asked !== "" && (
        <DepositDialog first={asked === ANY_ASSET ? "" : asked} onClose={() => deposit(null)} />
      )}
    </div>
  );
}

function Deposits() {
  const query = useDeposits();
  return (
    <DataTable
      label={t("Deposits")}
      columns={DEPOSIT_COLUMNS}
      rows={query.data}
      rowId={depositId}
      rowName={amountName}
      actions={depositActions}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title={t("No deposits yet")}>
          {t("What reaches your addresses, comes by bank or is booked by the exchange appears here.")}
        </EmptyState>
      }
    />
  );
}

function Movements() {
  const query = useTransactions();
  return (
    <DataTable
      label={t("Movements")}
      columns={MOVEMENT_COLUMNS}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ transactionId }) => transactionId}
      rowName={amountName}
      actions={movementActions}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title={t("No movements yet")}>{t("Each change of a balance appears here.")}</EmptyState>
      }
      footer={<ShowOlder query={query} />}
    />
  );
}
