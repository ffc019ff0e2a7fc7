import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { slice } from "../operator/client.ts";
import { EveryonesList } from "../parts/EveryonesList.tsx";
import { UserLink } from "../parts/UserLink.tsx";
import type { ListedPayment } from "../people/queries.ts";

const STATES = [
  { value: "open", label: "Waits for money" },
  { value: "uncredited", label: "Paid, credit waits" },
  { value: "complete", label: "Complete" },
  { value: "failed", label: "Failed" },
  { value: "expired", label: "Expired" },
  { value: "cancelled", label: "Cancelled" },
];

const COLUMNS: readonly Column<ListedPayment>[] = [
  { id: "opened", title: "Opened", cell: (row) => <TimeText milliseconds={Date.parse(row.createdAt)} /> },
  { id: "user", title: "User", cell: (row) => <UserLink id={row.userId} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: (row) => <Amount value={row.amount} unit={row.asset} />,
  },
  { id: "fee", title: "Fee", align: "right", cell: (row) => <Amount value={row.fee} unit={row.asset} /> },
  { id: "route", title: "Way", cell: (row) => row.routeId },
  { id: "id", title: "Payment", cell: (row) => <span className="figures">{row.id}</span> },
  { id: "state", title: "State", cell: (row) => <State payment={row} /> },
];

function State({ payment: { status, paymentStatus, credited } }: { payment: ListedPayment }) {
  if (paymentStatus === "paid") {
    return (
      <Badge tone={credited ? "positive" : "negative"} shape={credited ? "✓" : "▲"}>
        {credited ? "Credited" : "Credit waits"}
      </Badge>
    );
  }
  if (paymentStatus === "failed") {
    return (
      <Badge tone="negative" shape="✕">
        Failed
      </Badge>
    );
  }
  return (
    <Badge tone={status === "open" ? "warning" : "neutral"} shape={status === "open" ? "◐" : "○"}>
      {status === "open" ? "Waits for money" : status}
    </Badge>
  );
}

/** The payments of all users. */
export function PaymentsPage() {
  return (
    <EveryonesList<ListedPayment>
      name="payments"
      page="payments"
      title="Payments"
      text="What users pay in through a provider, the newest first."
      states={STATES}
      columns={COLUMNS}
      rowId={({ id }) => id}
      userOf={({ userId }) => userId}
      exportNeeds="payments.export"
      read={({ rest }, query, signal) =>
        slice(rest.GET("/api/v1/operator/payments", { params: { query }, signal }))
      }
    />
  );
}
