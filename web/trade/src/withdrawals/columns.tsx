/** The columns of withdrawals. */
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { WithdrawalBadge } from "#lib/components/WithdrawalBadge.tsx";
import type { Withdrawal } from "./queries.ts";
import classes from "./Withdrawal.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";

export const WITHDRAWAL_COLUMNS: Column<Withdrawal>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: ({ amount, asset }) => <AssetAmount value={amount} asset={asset} />,
  },
  {
    id: "arrives",
    title: "Arrives",
    align: "right",
    cell: ({ netAmount, asset }) => <AssetAmount value={netAmount} asset={asset} />,
  },
  {
    id: "to",
    title: "To",
    cell: ({ address }) => <span className={`figures ${classes.address ?? ""}`}>{address}</span>,
  },
  { id: "network", title: "Network", cell: ({ network }) => network },
  { id: "state", title: "State", cell: ({ status }) => <WithdrawalBadge status={status} /> },
];
