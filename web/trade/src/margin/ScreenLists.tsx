/** Margin positions and balances among the lists of the trading screen. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { Loading } from "../parts/Loading.tsx";
import { ScreenHoldings } from "../positions/ScreenHoldings.tsx";
import { PageLink } from "../parts/PageLink.tsx";
import { Balances } from "./Balances.tsx";
import type { Move } from "./asked.ts";
import { CollateralDialog } from "./CollateralDialog.tsx";
import { marksOf } from "./figures.ts";
import { PositionList } from "./PositionList.tsx";
import { useMarginAccount, useMarginPushes } from "./queries.ts";
import { explainMargin } from "./refusals.ts";

type Query = ReturnType<typeof useMarginAccount>;

/** The open positions of one market or of all, with what closes them and what secures them. */
export function MarginPositions({ only }: { only: string | undefined }) {
  const query = useMarginAccount();
  useMarginPushes();
  const { data: account } = query;
  if (!account) return <NoAccount query={query} />;
  return (
    <PositionList
      account={account}
      marks={marksOf(account)}
      only={only}
      isEnded={false}
      toolbar={<PageLink href="/margin">{t("Past ones, loans and collateral")}</PageLink>}
      state={query}
      problem={query.error ? explainMargin(query.error) : null}
    />
  );
}

/** What the user holds, and the margin positions if there are any: they are not forgotten in spot mode. */
export function AllPositions({ only }: { only: string | undefined }) {
  const { data: account } = useMarginAccount();
  const hasPositions = account?.positions.some(({ status }) => status === "open") ?? false;
  return (
    <>
      {hasPositions && <MarginPositions only={only} />}
      <ScreenHoldings only={only} />
    </>
  );
}

/** What the margin account holds and owes. */
export function MarginBalances() {
  const query = useMarginAccount();
  const [move, setMove] = useState<Move | null>(null);
  useMarginPushes();
  const { data: account } = query;
  if (!account) return <NoAccount query={query} />;
  return (
    <>
      <Balances
        account={account}
        state={query}
        problem={query.error ? explainMargin(query.error) : null}
        onMove={setMove}
      />
      {move && <CollateralDialog account={account} first={move} onClose={() => setMove(null)} />}
    </>
  );
}

/** In place of a list: there is no account, it cannot be read, or it is on its way. */
function NoAccount({ query: { data, error, refetch } }: { query: Query }) {
  if (data === null) {
    return (
      <EmptyState
        title={t("You have no margin account yet")}
        action={
          <Button component={Link} href="/margin" variant="default">
            {t("Open a margin account")}
          </Button>
        }
      >
        {t("Positions that you open with borrowed money appear here.")}
      </EmptyState>
    );
  }
  if (error) return <ErrorState problem={explainMargin(error)} onRetry={() => void refetch()} />;
  return <Loading what={t("your margin account")} />;
}
