import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { slice } from "../operator/client.ts";
import { EveryonesList } from "../parts/EveryonesList.tsx";
import { UserLink } from "../parts/UserLink.tsx";
import type { ListedDeposit } from "../people/queries.ts";

const STATES = [
  { value: "pending", label: "Waits for blocks" },
  { value: "waiting", label: "Waits for the end of a pause" },
  { value: "confirmed", label: "Confirmed" },
  { value: "uncredited", label: "Confirmed, credit waits" },
];

const COLUMNS: readonly Column<ListedDeposit>[] = [
  { id: "seen", title: "Seen", cell: (row) => <TimeText milliseconds={Date.parse(row.createdAt)} /> },
  { id: "user", title: "User", cell: (row) => <UserLink id={row.userId} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: (row) => <Amount value={row.amount} unit={row.asset} />,
  },
  { id: "network", title: "Network", cell: (row) => row.network },
  { id: "tx", title: "Transaction", cell: (row) => <span className="figures">{row.txHash}</span> },
  { id: "state", title: "State", cell: (row) => <State deposit={row} /> },
];

function State({ deposit: { status, credited } }: { deposit: ListedDeposit }) {
  if (status === "pending")
    return (
      <Badge tone="warning" shape="◐">
        Waits for blocks
      </Badge>
    );
  if (status === "waiting")
    return (
      <Badge tone="warning" shape="◐">
        Waits for the end of a pause
      </Badge>
    );
  if (credited === false)
    return (
      <Badge tone="negative" shape="▲">
        Credit waits
      </Badge>
    );
  return (
    <Badge tone="positive" shape="✓">
      {credited === true ? "Credited" : "Confirmed"}
    </Badge>
  );
}

/** The deposits of all users. */
export function DepositsPage() {
  return (
    <EveryonesList<ListedDeposit>
      name="deposits"
      page="deposits"
      title="Deposits"
      text="What the chains brought, the newest first. A confirmed deposit that is not in the ledger yet waits for its credit."
      states={STATES}
      columns={COLUMNS}
      rowId={({ txHash }) => txHash}
      userOf={({ userId }) => userId}
      exportNeeds="deposits.export"
      read={({ rest }, query, signal) =>
        slice(rest.GET("/api/v1/operator/deposits", { params: { query }, signal }))
      }
    />
  );
}
