/** Holdings among the lists of the trading screen. */
import { useState } from "react";
import { EmptyState } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { useExchange } from "../api/client.ts";
import { useSession } from "../api/session.ts";
import { PageLink } from "../parts/PageLink.tsx";
import classes from "./HoldingList.module.css";
import { HoldingList } from "./HoldingList.tsx";
import { PeriodChoice } from "./PeriodChoice.tsx";
import type { Period } from "./periods.ts";

/** What the user holds, with cost and result: of one asset or of all. */
export function ScreenHoldings({ only }: { only: string | undefined }) {
  const { positions } = useExchange();
  const { session } = useSession();
  const [period, setPeriod] = useState<Period>("all");
  if (!positions || !session)
    return (
      <EmptyState title={t("Positions are not kept here")}>
        {t("This exchange runs without the position service. Your balances are in the wallet.")}
      </EmptyState>
    );
  return (
    <HoldingList
      owner={{ positions, userId: session.userId }}
      only={only?.split("-")[0]}
      period={period}
      toolbar={
        <div className={classes.period}>
          <PeriodChoice value={period} onChange={setPeriod} />
          <PageLink href="/positions">{t("All results, and tax lots")}</PageLink>
        </div>
      }
    />
  );
}
