/** The columns of bookings in the account of the user, and the menu of a row. */
import { copyAndTell } from "#lib/components/CopyText.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import type { Transaction } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

export const MOVEMENT_COLUMNS: Column<Transaction>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  { id: "what", title: "What", cell: ({ entryType }) => words(entryType) },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: ({ amount, asset }) => <AssetAmount value={amount} asset={asset} signed />,
  },
  {
    id: "balance",
    title: "Balance after",
    align: "right",
    cell: ({ balance, asset }) => <AssetAmount value={balance} asset={asset} />,
  },
];

const words = (name: string) => {
  const text = name.replace(/[_.]/g, " ").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
};

export const movementActions = ({ transactionId, referenceId }: Transaction) => [
  { label: "Copy id", onClick: () => copyAndTell(transactionId) },
  { label: "Copy reference", onClick: () => copyAndTell(referenceId) },
];
