import { SegmentedControl, Skeleton } from "@mantine/core";
import { useState } from "react";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { useUrlState } from "#lib/urlState.ts";
import classes from "./HoldingList.module.css";
import { HoldingList } from "./HoldingList.tsx";
import { PeriodChoice } from "./PeriodChoice.tsx";
import type { Period } from "./periods.ts";
import type { Owner } from "./queries.ts";

const MarketResults = late(() => import("./MarketResults.tsx"), {
  waiting: () => <Skeleton height={240} role="progressbar" aria-label={t("Loading the results")} />,
});

/** The results of what is held, by asset or by market. The choice stands in the address. */
export function HoldingViews({ owner }: { owner: Owner }) {
  const { parameter, change } = useUrlState();
  const [period, setPeriod] = useState<Period>("all");
  const view = parameter("by") === "market" ? "market" : "asset";
  return (
    <>
      <div className={classes.views}>
        <SegmentedControl
          size="xs"
          aria-label={t("Results by")}
          data={[
            { value: "asset", label: t("By asset") },
            { value: "market", label: t("By market") },
          ]}
          value={view}
          // The columns of the two are not the same.
          onChange={(chosen) => change({ by: chosen === "market" ? chosen : null, sort: null })}
        />
        <div className={classes.period}>
          <PeriodChoice value={period} onChange={setPeriod} />
        </div>
      </div>
      {view === "market" ? (
        <MarketResults owner={owner} period={period} />
      ) : (
        <HoldingList owner={owner} period={period} />
      )}
    </>
  );
}
