import { Amount } from "#lib/components/Amount.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { WithdrawalBadge } from "#lib/components/WithdrawalBadge.tsx";
import { slice } from "../operator/client.ts";
import { EveryonesList } from "../parts/EveryonesList.tsx";
import { UserLink } from "../parts/UserLink.tsx";
import type { ListedWithdrawal } from "../people/queries.ts";

const STATES = [
  { value: "open", label: "Not settled" },
  { value: "pending_approval", label: "Waits for approval" },
  { value: "approved", label: "Approved" },
  { value: "signing", label: "Signing" },
  { value: "broadcasting", label: "Being sent" },
  { value: "confirming", label: "Confirming" },
  { value: "completed", label: "Completed" },
  { value: "cancelled", label: "Cancelled" },
  { value: "rejected", label: "Rejected" },
  { value: "failed", label: "Failed" },
];

const COLUMNS: readonly Column<ListedWithdrawal>[] = [
  { id: "made", title: "Created", cell: (row) => <TimeText milliseconds={Date.parse(row.createdAt)} /> },
  { id: "user", title: "User", cell: (row) => <UserLink id={row.userId} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: (row) => <Amount value={row.amount} unit={row.asset} />,
  },
  {
    id: "worth",
    title: "Worth",
    align: "right",
    cell: (row) => <Amount value={row.valueUsd} unit="USD" places={2} />,
  },
  { id: "to", title: "To", cell: (row) => <span className="figures">{row.address}</span> },
  { id: "network", title: "Network, wallet", cell: (row) => `${row.network}, ${row.wallet}` },
  { id: "state", title: "State", cell: (row) => <WithdrawalBadge status={row.status} /> },
  { id: "reason", title: "Reason", cell: (row) => row.reason ?? "–" },
  { id: "by", title: "Approved by", cell: (row) => row.approvals || "–" },
];

/** The withdrawals of all users, in every state. */
export function AllWithdrawalsPage() {
  return (
    <EveryonesList<ListedWithdrawal>
      name="withdrawals"
      title="All withdrawals"
      text="Every withdrawal, settled or not, the newest first. Decide on those that wait on the page Withdrawals."
      states={STATES}
      columns={COLUMNS}
      rowId={({ id }) => id}
      userOf={({ userId }) => userId}
      exportNeeds="withdrawals.export"
      read={({ rest }, query, signal) =>
        slice(rest.GET("/api/v1/operator/withdrawals", { params: { query }, signal }))
      }
    />
  );
}
