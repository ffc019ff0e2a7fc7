import { Skeleton, Tabs } from "@mantine/core";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ErrorState } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { withChanges } from "#lib/urlState.ts";
import { Balances } from "../margin/Balances.tsx";
import { CloseAccount } from "../margin/CloseDialogs.tsx";
import type { Move } from "../margin/asked.ts";
import { CollateralDialog } from "../margin/CollateralDialog.tsx";
import { marksOf } from "../margin/figures.ts";
import { LoanList } from "../margin/LoanList.tsx";
import classes from "../margin/Margin.module.css";
import { OpenForm } from "../margin/OpenForm.tsx";
import { PositionList } from "../margin/PositionList.tsx";
import { type MarginAccount, useMarginAccount, useMarginPushes } from "../margin/queries.ts";
import { explainMargin } from "../margin/refusals.ts";
import { Shown } from "../margin/Shown.tsx";
import { Summary } from "../margin/Summary.tsx";
import { Welcome } from "../margin/Welcome.tsx";

/** Trading with borrowed money: the margin account, its positions, loans and collateral. */
export default function MarginPage() {
  const query = useMarginAccount();
  const [move, setMove] = useState<Move | null>(null);
  useMarginPushes();
  const { data: account } = query;
  return (
    <div className={classes.page}>
      <PageHeader title={t("Margin")}>
        {t("Trading with borrowed money, on an account apart from your wallet.")}
      </PageHeader>
      {account ? (
        <Account account={account} query={query} onMove={setMove} />
      ) : account === null ? (
        <Welcome onBegin={() => setMove({ direction: "in", asset: "" })} />
      ) : query.error ? (
        <Card>
          <ErrorState problem={explainMargin(query.error)} onRetry={() => void query.refetch()} />
        </Card>
      ) : (
        <>
          <Skeleton
            height={220}
            radius="md"
            role="progressbar"
            aria-label={t("Loading your margin account")}
          />
          <Skeleton height={420} radius="md" aria-hidden />
        </>
      )}
      {move && <CollateralDialog account={account ?? null} first={move} onClose={() => setMove(null)} />}
    </div>
  );
}

interface AccountProps {
  account: MarginAccount;
  query: ReturnType<typeof useMarginAccount>;
  onMove: (move: Move) => void;
}

function Account({ account, query, onMove }: AccountProps) {
  const marks = marksOf(account);
  const problem = query.error ? explainMargin(query.error) : null;
  return (
    <>
      <Summary
        account={account}
        staleSince={problem && query.dataUpdatedAt}
        onMove={(direction) => onMove({ direction, asset: "" })}
      />
      <div className={classes.columns}>
        <div className={classes.stack}>
          <OpenForm account={account} />
        </div>
        <div className={classes.stack}>
          <Lists account={account} query={query} marks={marks} />
          <Card flush>
            <Balances account={account} state={query} problem={problem} onMove={onMove} />
          </Card>
          <CloseAccount account={account} />
        </div>
      </div>
    </>
  );
}

/** Positions and loans, running or ended; the address keeps which. */
function Lists({
  account,
  query,
  marks,
}: Pick<AccountProps, "account" | "query"> & {
  marks: Parameters<typeof PositionList>[0]["marks"];
}) {
  const [parameters, setParameters] = useSearchParams();
  const tab = parameters.get("tab") === "loans" ? "loans" : "positions";
  const isEnded = parameters.get("shown") === "ended";
  const change = (changes: Parameters<typeof withChanges>[1]) =>
    setParameters((before) => withChanges(before, changes), { replace: true });
  const onEnded = (wantsEnded: boolean) => change({ shown: wantsEnded ? "ended" : null });
  const problem = query.error ? explainMargin(query.error) : null;
  const shared = { account, isEnded, state: query, problem };
  return (
    <Card flush>
      <Tabs
        value={tab}
        onChange={(value) => change({ tab: value === "loans" ? "loans" : null, shown: null })}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="positions">{t("Positions")}</Tabs.Tab>
          <Tabs.Tab value="loans">{t("Loans")}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="positions">
          <PositionList
            {...shared}

            marks={marks}
            toolbar={<Shown current={t("Open")} ended={t("Past")} isEnded={isEnded} onEnded={onEnded} />}
          />
        </Tabs.Panel>
        <Tabs.Panel value="loans">
          <LoanList
            {...shared}
            toolbar={<Shown current={t("Running")} ended={t("Ended")} isEnded={isEnded} onEnded={onEnded} />}
          />
        </Tabs.Panel>
      </Tabs>
    </Card>
  );
}
