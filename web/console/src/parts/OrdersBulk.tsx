import { useState } from "react";
import { plural } from "#lib/counts.ts";
import { type Cancellable, type ListedOrder, usersToCancel } from "../people/trading.ts";
import { OpenOrdersDialog } from "./OpenOrdersDialog.tsx";
import { type Selection, SelectionBar } from "./selection.tsx";

/** Orders that can be chosen at most: as many users as a bulk action takes. */
export const ORDERS_MAX = 100;

/** What can be done with the users of the orders that are chosen. */
export function OrdersBulk({ selection, orders }: { selection: Selection; orders: readonly ListedOrder[] }) {
  const [asked, setAsked] = useState<Cancellable | null>(null);
  const cancellable = usersToCancel(orders.filter(({ orderId }) => selection.has(orderId)));
  return (
    <>
      <SelectionBar
        selection={selection}
        noun="order"
        most={ORDERS_MAX}
        choices={[
          {
            label: "Cancel all open orders of their users…",
            needs: "orders.cancel_all",
            danger: true,
            disabledReason:
              cancellable.users.length === 0
                ? "None of them is an order of a user's own account."
                : undefined,
            onClick: () => setAsked(cancellable),
          },
        ]}
      />
      {asked && (
        <OpenOrdersDialog ids={asked.users} onClose={() => setAsked(null)}>
          <p>
            Not only the orders that you chose: every open order of {plural(asked.users.length, "user")} goes,{" "}
            {asked.users.join(", ")}. To cancel one order alone, use the menu of its row.
          </p>
          {asked.leftOut.map(({ reason, count }) => (
            <p key={reason}>
              {plural(count, "chosen order")} left out. {reason}
            </p>
          ))}
        </OpenOrdersDialog>
      )}
    </>
  );
}
