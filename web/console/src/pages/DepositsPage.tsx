import { slice } from "../operator/client.ts";
import { EveryonesList } from "../parts/EveryonesList.tsx";
import { DEPOSIT_COLUMNS } from "../parts/moneyColumns.tsx";
import type { ListedDeposit } from "../people/queries.ts";

const STATES = [
  { value: "pending", label: "Waits for blocks" },
  { value: "waiting", label: "Waits for the end of a pause" },
  { value: "confirmed", label: "Confirmed" },
  { value: "uncredited", label: "Confirmed, credit waits" },
];

/** The deposits of all users. */
export function DepositsPage() {
  return (
    <EveryonesList<ListedDeposit>
      name="deposits"
      page="deposits"
      title="Deposits"
      text="What the chains brought, the newest first. A confirmed deposit that is not in the ledger yet waits for its credit."
      states={STATES}
      columns={DEPOSIT_COLUMNS}
      rowId={({ txHash }) => txHash}
      userOf={({ userId }) => userId}
      exportNeeds="deposits.export"
      read={({ rest }, query, signal) =>
        slice(rest.GET("/api/v1/operator/deposits", { params: { query }, signal }))
      }
    />
  );
}
