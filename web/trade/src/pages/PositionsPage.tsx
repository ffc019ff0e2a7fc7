import { Skeleton, Tabs } from "@mantine/core";
import { useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { useExchange } from "../api/client.ts";
import { useSession } from "../api/session.ts";
import { explain } from "../api/messages.ts";
import { HoldingTotals } from "../positions/HoldingList.tsx";
import { HoldingViews } from "../positions/HoldingViews.tsx";
import { PositionList } from "../positions/PositionList.tsx";
import { type Owner, useResults } from "../positions/queries.ts";
import { Result } from "../positions/Result.tsx";
import { TaxLots } from "../positions/TaxLots.tsx";
import { TransferList } from "../positions/TransferList.tsx";
import classes from "./PositionsPage.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";

/** What is held with its results, positions with profit and loss, their transfers, and tax lots. */
export default function PositionsPage() {
  const { positions } = useExchange();
  const { session } = useSession();
  return (
    <div className={classes.page}>
      <PageHeader title={t("Positions")}>
        {t("What you hold, what it cost and what came of it, and tax lots.")}
      </PageHeader>
      {positions === null || session === null ? (
        <Card>
          <EmptyState title={t("Positions are not kept here")}>
            {t("This exchange runs without the position service. Your balances are in the wallet.")}
          </EmptyState>
        </Card>
      ) : (
        <Content owner={{ positions, userId: session.userId }} />
      )}
    </div>
  );
}

function Content({ owner }: { owner: Owner }) {
  const [tab, setTab] = useState<string | null>("holdings");
  return (
    <>
      {tab === "holdings" && (
        <div className={classes.totals}>
          <HoldingTotals owner={owner} />
        </div>
      )}
      {tab === "positions" && <Results owner={owner} />}
      <Card flush>
        <Tabs value={tab} onChange={setTab} keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="holdings">{t("Holdings")}</Tabs.Tab>
            <Tabs.Tab value="positions">{t("Positions")}</Tabs.Tab>
            <Tabs.Tab value="transfers">{t("Transfers")}</Tabs.Tab>
            <Tabs.Tab value="lots">{t("Tax lots")}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="holdings">
            <HoldingViews owner={owner} />
          </Tabs.Panel>
          <Tabs.Panel value="positions">
            <PositionList owner={owner} />
          </Tabs.Panel>
          <Tabs.Panel value="transfers">
            <TransferList owner={owner} />
          </Tabs.Panel>
          <Tabs.Panel value="lots">
            <TaxLots owner={owner} />
          </Tabs.Panel>
        </Tabs>
      </Card>
    </>
  );
}

/** One card for each quote asset; none before the first position. */
function Results({ owner }: { owner: Owner }) {
  const { data, error, refetch } = useResults(owner);
  if (!data && error) return <ErrorState problem={explain(error)} onRetry={() => void refetch()} />;
  if (!data)
    return <Skeleton height={96} mb={16} role="progressbar" aria-label={t("Loading profit and loss")} />;
  return (
    <div className={classes.results}>
      {data.results.map(({ quoteAsset, totalPnl, realisedPnl, unrealisedPnl, fees }) => (
        <Card key={quoteAsset} title={t("Profit and loss in {quoteAsset}", { quoteAsset })}>
          <p className={classes.total}>
            {totalPnl === null ? t("Waits for a price") : <Result value={totalPnl} unit={quoteAsset} />}
          </p>
          <dl className={classes.parts}>
            <div>
              <dt>{t("Realised")}</dt>
              <dd>
                <Result value={realisedPnl} unit={quoteAsset} />
              </dd>
            </div>
            <div>
              <dt>{t("Unrealised")}</dt>
              <dd>
                <Result value={unrealisedPnl} unit={quoteAsset} />
              </dd>
            </div>
            <div>
              <dt>{t("Fees in it")}</dt>
              <dd>
                <AssetAmount value={fees} asset={quoteAsset} />
              </dd>
            </div>
          </dl>
        </Card>
      ))}
    </div>
  );
}
