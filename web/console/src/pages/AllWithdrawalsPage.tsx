import { PersonIcon } from "@primer/octicons-react";
import { useState } from "react";
import type { Column } from "#lib/components/DataTable.tsx";
import { slice } from "../operator/client.ts";
import { useCan } from "../operator/session.ts";
import { AssignDialog } from "../parts/AssignDialog.tsx";
import { EveryonesList } from "../parts/EveryonesList.tsx";
import { WITHDRAWAL_COLUMNS } from "../parts/moneyColumns.tsx";
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

/** The withdrawals of all users, in every state. */
export function AllWithdrawalsPage() {
  const assignees = useAssignees().data;
  const can = useCan();
  const [assigned, setAssigned] = useState<ListedWithdrawal | null>(null);
  const columns: readonly Column<ListedWithdrawal>[] = [
    ...WITHDRAWAL_COLUMNS,
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
