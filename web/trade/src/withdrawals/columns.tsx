/** The columns of withdrawals. */
import { Amount } from "#lib/components/Amount.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import type { Withdrawal } from "./queries.ts";
import { WithdrawalBadge } from "./labels.tsx";
import classes from "./Withdrawal.module.css";

export const WITHDRAWAL_COLUMNS: Column<Withdrawal>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: ({ amount, asset }) => <Amount value={amount} unit={asset} />,
  },
  {
    id: "arrives",
    title: "Arrives",
    align: "right",
    cell: ({ netAmount, asset }) => <Amount value={netAmount} unit={asset} />,
  },
  {
    id: "to",
    title: "To",
    cell: ({ address }) => <span className={`figures ${classes.address ?? ""}`}>{address}</span>,
  },
  { id: "network", title: "Network", cell: ({ network }) => network },
  { id: "state", title: "State", cell: ({ status }) => <WithdrawalBadge status={status} /> },
];
