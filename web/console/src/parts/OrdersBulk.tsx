import { useState } from "react";
import { plural } from "#lib/counts.ts";
import type { ListedOrder } from "../people/trading.ts";
import { OpenOrdersDialog } from "./OpenOrdersDialog.tsx";
import { type Selection, SelectionBar } from "./selection.tsx";

/** Orders that can be chosen at most: as many users as a bulk action takes. */
export const ORDERS_MAX = 100;

/** What can be done with the users of the orders that are chosen. */
export function OrdersBulk({ selection, orders }: { selection: Selection; orders: readonly ListedOrder[] }) {
  const [users, setUsers] = useState<readonly string[] | null>(null);
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
            onClick: () => {
              const chosen = orders.filter(({ orderId }) => selection.has(orderId));
              setUsers([...new Set(chosen.map(({ userId }) => userId))]);
            },
          },
        ]}
      />
      {users && (
        <OpenOrdersDialog ids={users} onClose={() => setUsers(null)}>
          <p>
            Not only the orders that you chose: every open order of {plural(users.length, "user")} goes,{" "}
            {users.join(", ")}. To cancel one order alone, use the menu of its row.
          </p>
        </OpenOrdersDialog>
      )}
    </>
  );
}
