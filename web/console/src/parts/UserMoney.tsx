import type { Column } from "#lib/components/DataTable.tsx";
import { slice } from "../operator/client.ts";
import type { ListedDeposit, ListedPayment, ListedWithdrawal } from "../people/queries.ts";
import { DEPOSIT_COLUMNS, PAYMENT_COLUMNS, WITHDRAWAL_COLUMNS } from "./moneyColumns.tsx";
import { useUserDays } from "./userDays.tsx";
import { Growing } from "./UserLists.tsx";

/** Columns without the user, who is known. */
function ofOne<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  return columns.filter(({ id }) => id !== "user");
}

const DEPOSITS = ofOne(DEPOSIT_COLUMNS);
const WITHDRAWALS = ofOne(WITHDRAWAL_COLUMNS);
const PAYMENTS = ofOne(PAYMENT_COLUMNS);

export function UserDeposits({ userId }: { userId: string }) {
  const { span, toolbar } = useUserDays(userId, {
    list: "deposits",
    needs: "deposits.export",
    ofEverybody: true,
  });
  return (
    <Growing<ListedDeposit>
      label="Deposits"
      toolbar={toolbar}
      listKey={["deposits", { userId, ...span }]}
      read={({ rest }, place, signal) =>
        slice(
          rest.GET("/api/v1/operator/deposits", { params: { query: { userId, ...span, ...place } }, signal }),
        )
      }
      columns={DEPOSITS}
      rowId={(row) => row.txHash}
      empty="No deposits"
    />
  );
}

export function UserWithdrawals({ userId }: { userId: string }) {
  const { span, toolbar } = useUserDays(userId, {
    list: "withdrawals",
    needs: "withdrawals.export",
    ofEverybody: true,
  });
  return (
    <Growing<ListedWithdrawal>
      label="Withdrawals"
      toolbar={toolbar}
      listKey={["withdrawals", { userId, ...span }]}
      read={({ rest }, place, signal) =>
        slice(
          rest.GET("/api/v1/operator/withdrawals", {
            params: { query: { userId, ...span, ...place } },
            signal,
          }),
        )
      }
      columns={WITHDRAWALS}
      rowId={(row) => row.id}
      empty="No withdrawals"
    />
  );
}

export function UserPayments({ userId }: { userId: string }) {
  const { span, toolbar } = useUserDays(userId, {
    list: "payments",
    needs: "payments.export",
    ofEverybody: true,
  });
  return (
    <Growing<ListedPayment>
      label="Payments"
      toolbar={toolbar}
      listKey={["payments", { userId, ...span }]}
      read={({ rest }, place, signal) =>
        slice(
          rest.GET("/api/v1/operator/payments", { params: { query: { userId, ...span, ...place } }, signal }),
        )
      }
      columns={PAYMENTS}
      rowId={(row) => row.id}
      empty="No payments"
    />
  );
}
