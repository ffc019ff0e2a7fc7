/** The columns of withdrawals. */
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { WithdrawalBadge } from "#lib/components/WithdrawalBadge.tsx";
import { t } from "#lib/language.ts";
import type { Withdrawal } from "./queries.ts";
import { hasStopped, reasonOf } from "./steps.ts";
import classes from "./Withdrawal.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";

export const WITHDRAWAL_COLUMNS: Column<Withdrawal>[] = [
  {
    id: "time",
    get title() {
      return t("Time");
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
    id: "arrives",
    get title() {
      return t("Arrives");
    },
    align: "right",
    cell: (withdrawal) =>
      hasStopped(withdrawal) ? "–" : <AssetAmount value={withdrawal.netAmount} asset={withdrawal.asset} />,
  },
  {
    id: "to",
    get title() {
      return t("To|destination");
    },
    cell: ({ address }) => <span className={`figures ${classes.address ?? ""}`}>{address}</span>,
  },
  {
    id: "network",
    get title() {
      return t("Network");
    },
    cell: ({ network }) => network,
  },
  {
    id: "state",
    get title() {
      return t("State");
    },
    cell: (withdrawal) => {
      const reason = reasonOf(withdrawal);
      return (
        <>
          <WithdrawalBadge status={withdrawal.status} />
          {reason && (
            <p className={classes.reason} lang={reason.language}>
              {reason.detail}
            </p>
          )}
        </>
      );
    },
  },
];
