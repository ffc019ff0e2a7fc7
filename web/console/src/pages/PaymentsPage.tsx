import { slice } from "../operator/client.ts";
import { EveryonesList } from "../parts/EveryonesList.tsx";
import { PAYMENT_COLUMNS } from "../parts/moneyColumns.tsx";
import type { ListedPayment } from "../people/queries.ts";

const STATES = [
  { value: "open", label: "Waits for money" },
  { value: "uncredited", label: "Paid, credit waits" },
  { value: "complete", label: "Complete" },
  { value: "failed", label: "Failed" },
  { value: "expired", label: "Expired" },
  { value: "cancelled", label: "Cancelled" },
];

/** The payments of all users. */
export function PaymentsPage() {
  return (
    <EveryonesList<ListedPayment>
      name="payments"
      page="payments"
      title="Payments"
      text="What users pay in through a provider, the newest first."
      states={STATES}
      columns={PAYMENT_COLUMNS}
      rowId={({ id }) => id}
      userOf={({ userId }) => userId}
      exportNeeds="payments.export"
      read={({ rest }, query, signal) =>
        slice(rest.GET("/api/v1/operator/payments", { params: { query }, signal }))
      }
    />
  );
}
