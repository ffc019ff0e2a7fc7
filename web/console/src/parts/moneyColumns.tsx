/** The columns of lists of money that comes and goes: those of everybody, and those of one user. */
import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { WithdrawalBadge } from "#lib/components/WithdrawalBadge.tsx";
import type { ListedDeposit, ListedPayment, ListedWithdrawal } from "../people/queries.ts";
import { UserLink } from "./UserLink.tsx";

export const DEPOSIT_COLUMNS: readonly Column<ListedDeposit>[] = [
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
  { id: "state", title: "State", cell: (row) => <DepositState deposit={row} /> },
];

function DepositState({ deposit: { status, credited } }: { deposit: ListedDeposit }) {
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

export const WITHDRAWAL_COLUMNS: readonly Column<ListedWithdrawal>[] = [
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
  { id: "state", title: "State", isPinned: true, cell: (row) => <WithdrawalBadge status={row.status} /> },
  { id: "reason", title: "Reason", cell: (row) => row.reason ?? "–" },
  { id: "by", title: "Approved by", cell: (row) => row.approvals || "–" },
];

export const PAYMENT_COLUMNS: readonly Column<ListedPayment>[] = [
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
  { id: "state", title: "State", cell: (row) => <PaymentState payment={row} /> },
];

function PaymentState({ payment: { status, paymentStatus, credited } }: { payment: ListedPayment }) {
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
