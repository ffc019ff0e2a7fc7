import { Button, Skeleton, Tabs } from "@mantine/core";
import { useState } from "react";
import { Badge, type Tone } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { rich, t, texts } from "#lib/language.ts";
import { percentOfRate } from "#lib/rates.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { FundsNavigation } from "../parts/FundsNavigation.tsx";
import { STAKING_EVENT_COLUMNS } from "../staking/columns.tsx";
import {
  type Product,
  type Stake,
  type Unstake,
  useProducts,
  useStakes,
  useStakingHistory,
  useUnstakes,
} from "../staking/queries.ts";
import { kindOf, lockOf, wayBackOf } from "../staking/staking.ts";
import { StakeDialog, UnstakeDialog } from "../staking/StakingDialogs.tsx";
import classes from "./StakingPage.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { Said } from "../parts/Said.tsx";

/** What can be staked, what is, what is on its way back, and every reward. */
export default function StakingPage() {
  const [tab, setTab] = useState<string | null>("stakes");
  return (
    <div className={classes.page}>
      <div>
        <PageHeader title={t("Staking")}>
          {t("Rewards for whole days, from the midnight (UTC) after you stake.")}
        </PageHeader>
        <FundsNavigation />
      </div>
      <Products />
      <Card flush>
        <Tabs value={tab} onChange={setTab} keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="stakes">{t("Your stakes")}</Tabs.Tab>
            <Tabs.Tab value="pending">{t("On the way back")}</Tabs.Tab>
            <Tabs.Tab value="history">{t("History")}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="stakes">
            <Stakes />
          </Tabs.Panel>
          <Tabs.Panel value="pending">
            <Pending />
          </Tabs.Panel>
          <Tabs.Panel value="history">
            <History />
          </Tabs.Panel>
        </Tabs>
      </Card>
    </div>
  );
}

function Products() {
  const { data, error, refetch } = useProducts();
  const [chosen, setChosen] = useState<Product | null>(null);
  if (error && !data) return <ErrorState problem={explain(error)} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={160} role="progressbar" aria-label={t("Loading the products")} />;
  if (data.length === 0) {
    return (
      <EmptyState title={t("Nothing can be staked")}>
        {t("The operator of this exchange offers no products.")}
      </EmptyState>
    );
  }
  return (
    <>
      <ul className={classes.products} aria-label={t("Products")}>
        {data.map((product) => (
          <li key={product.id}>
            <div className={classes.head}>
              <h2>{product.asset}</h2>
              <span>{kindOf(product)}</span>
            </div>
            <p className={classes.rate}>
              {rich("{percentOfRate} a year", {
                percentOfRate: <strong className="figures">{percentOfRate(product.apr)}</strong>,
              })}
            </p>
            <p className={classes.text}>{wayBackOf(product)}</p>
            <dl className={classes.facts}>
              <div>
                <dt>{t("At least")}</dt>
                <dd>
                  <AssetAmount value={product.minimum} asset={product.asset} />
                </dd>
              </div>
              <div>
                <dt>{t("Room left")}</dt>
                <dd>
                  <AssetAmount value={product.remaining} asset={product.asset} />
                </dd>
              </div>
            </dl>
            <Button
              variant="default"
              aria-label={t("Stake {asset}, {kindOf}", { asset: product.asset, kindOf: kindOf(product) })}
              onClick={() => setChosen(product)}
            >
              {rich("Stake {asset}", { asset: product.asset })}
            </Button>
          </li>
        ))}
      </ul>
      {chosen && <StakeDialog product={chosen} onClose={() => setChosen(null)} />}
    </>
  );
}

const STATES: Readonly<Record<Stake["status"], readonly [words: string, tone: Tone, shape: string]>> = texts({
  pending: ["Being staked", "warning", "◔"],
  active: ["Earning", "positive", "●"],
  unbonding: ["On its way back", "accent", "◑"],
  redeemed: ["Paid back", "neutral", "○"],
  failed: ["Failed", "negative", "!"],
});

const STAKE_COLUMNS: Column<Stake>[] = [
  {
    id: "since",
    get title() {
      return t("Since");
    },
    cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
  },
  {
    id: "amount",
    get title() {
      return t("Amount");
    },
    align: "right",
    cell: ({ amount, asset }) => <AssetAmount value={amount} asset={asset} />,
  },
  {
    id: "rewards",
    get title() {
      return t("Rewards so far");
    },
    align: "right",
    cell: ({ accrued, asset }) => <AssetAmount value={accrued} asset={asset} />,
  },
  {
    id: "end",
    get title() {
      return t("Ends");
    },
    cell: ({ endsAt }) =>
      endsAt === null ? t("when you want") : <TimeText milliseconds={Date.parse(endsAt)} />,
  },
  {
    id: "state",
    get title() {
      return t("State");
    },
    cell: ({ status, failureCode }) => {
      const [words, tone, shape] = STATES[status];
      return (
        <Badge tone={tone} shape={shape}>
          {t(words)}
          {failureCode !== null && (
            <>
              : <Said reason={failureCode} />
            </>
          )}
        </Badge>
      );
    },
  },
];

function Stakes() {
  const query = useStakes();
  const products = useProducts();
  const [chosen, setChosen] = useState<Stake | null>(null);
  const productOf = ({ productId }: Stake) => products.data?.find(({ id }) => id === productId);
  return (
    <>
      <DataTable
        label={t("Your stakes")}
        columns={STAKE_COLUMNS}
        rows={query.data?.pages.flatMap(({ rows }) => rows)}
        rowId={({ id }) => id}
        rowName={({ amount, asset }) => `${formatDecimal(amount)} ${asset}`}
        actions={(stake) => [
          {
            label: t("Take it back…"),
            disabledReason: lockOf(stake),
            onClick: () => setChosen(stake),
          },
          { label: t("Copy id"), onClick: () => copyAndTell(stake.id) },
        ]}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={t("No stakes yet")}>
            {t("Choose a product above: what you stake appears here.")}
          </EmptyState>
        }
        footer={<ShowOlder query={query} />}
      />
      {chosen && <UnstakeDialog stake={chosen} product={productOf(chosen)} onClose={() => setChosen(null)} />}
    </>
  );
}

const PENDING_COLUMNS: Column<Unstake>[] = [
  {
    id: "asked",
    get title() {
      return t("Asked");
    },
    cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
  },
  {
    id: "amount",
    get title() {
      return t("Amount");
    },
    align: "right",
    cell: ({ amount, asset }) => <AssetAmount value={amount} asset={asset} />,
  },
  {
    id: "reward",
    get title() {
      return t("Reward");
    },
    align: "right",
    cell: ({ reward, asset }) => <AssetAmount value={reward} asset={asset} />,
  },
  {
    id: "arrives",
    get title() {
      return t("Arrives");
    },
    cell: ({ availableAt }) => <TimeText milliseconds={Date.parse(availableAt)} />,
  },
];

function Pending() {
  const query = useUnstakes();
  return (
    <DataTable
      label={t("On the way back")}
      columns={PENDING_COLUMNS}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ id }) => id}
      rowName={({ amount, asset }) => `${formatDecimal(amount)} ${asset}`}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title={t("Nothing is on its way")}>
          {t("What you take back waits here until it arrives.")}
        </EmptyState>
      }
      footer={<ShowOlder query={query} />}
    />
  );
}

function History() {
  const query = useStakingHistory();
  return (
    <DataTable
      label={t("Staking history")}
      columns={STAKING_EVENT_COLUMNS}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ id }) => id}
      rowName={({ amount, asset }) => `${formatDecimal(amount)} ${asset}`}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title={t("Nothing has happened yet")}>
          {t("Stakes, rewards and payouts appear here.")}
        </EmptyState>
      }
      footer={<ShowOlder query={query} />}
    />
  );
}
