import { PersonIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { WithdrawalBadge } from "#lib/components/WithdrawalBadge.tsx";
import { slice } from "../operator/client.ts";
import { useCan } from "../operator/session.ts";
import { AssignDialog } from "../parts/AssignDialog.tsx";
import { EveryonesList } from "../parts/EveryonesList.tsx";
import { UserLink } from "../parts/UserLink.tsx";
import { shownOperator, useAssignees } from "../people/assignments.ts";
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
  const assignees = useAssignees().data;
  const can = useCan();
  const [assigned, setAssigned] = useState<ListedWithdrawal | null>(null);
  const columns: readonly Column<ListedWithdrawal>[] = [
    ...COLUMNS,
    { id: "assignee", title: "To decide", cell: (row) => shownOperator(row.assignee, assignees) },
  ];
  return (
    <>
      <EveryonesList<ListedWithdrawal>
        name="withdrawals"
        page="all-withdrawals"
        title="All withdrawals"
        text="Every withdrawal, settled or not, the newest first. Decide on those that wait on the page Withdrawals."
        states={STATES}
        columns={columns}
        filter={{
          parameter: "assignee",
          label: "To decide",
          any: "Anybody's",
          choices: [
            { value: "nobody", label: "Nobody's" },
            ...(assignees ?? []).map(({ operator, email }) => ({ value: operator, label: email })),
          ],
        }}
        actions={(row) => [
          {
            label: "Who decides…",
            icon: <PersonIcon />,
            disabledReason: can("withdrawals.assign")
              ? undefined
              : "This needs the permission withdrawals.assign.",
            onClick: () => setAssigned(row),
          },
        ]}
        rowId={({ id }) => id}
        userOf={({ userId }) => userId}
        exportNeeds="withdrawals.export"
        read={({ rest }, query, signal) =>
          slice(rest.GET("/api/v1/operator/withdrawals", { params: { query }, signal }))
        }
      />
      {assigned && <AssignDialog withdrawal={assigned} onClose={() => setAssigned(null)} />}
    </>
  );
}
