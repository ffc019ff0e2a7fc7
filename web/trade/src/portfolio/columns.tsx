/** The columns of bookings in the account of the user, and the menu of a row. */
import { copyAndTell } from "#lib/components/CopyText.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { t, texts } from "#lib/language.ts";
import type { Transaction } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

export const MOVEMENT_COLUMNS: Column<Transaction>[] = [
  {
    id: "time",
    get title() {
      return t("Time");
    },
    cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
  },
  {
    id: "what",
    get title() {
      return t("What");
    },
    cell: ({ entryType }) => words(entryType),
  },
  {
    id: "amount",
    get title() {
      return t("Amount");
    },
    align: "right",
    cell: ({ amount, asset }) => <AssetAmount value={amount} asset={asset} signed />,
  },
  {
    id: "balance",
    get title() {
      return t("Balance after");
    },
    align: "right",
    cell: ({ balance, asset }) => <AssetAmount value={balance} asset={asset} />,
  },
];

/** The kinds of movements, as `words` spells them. */
texts([
  "Trade",
  "Fee",
  "Rebate",
  "Deposit",
  "Withdrawal",
  "Adjustment",
  "Conversion",
  "Staking",
  "Unstaking",
  "Reward",
  "Payment",
  "Loan",
  "Subscription",
  "Refund",
]);

const words = (name: string) => {
  const text = name.replace(/[_.]/g, " ").toLowerCase();
  return t(text.charAt(0).toUpperCase() + text.slice(1));
};

export const movementActions = ({ transactionId, referenceId }: Transaction) => [
  { label: t("Copy id"), onClick: () => copyAndTell(transactionId) },
  { label: t("Copy reference"), onClick: () => copyAndTell(referenceId) },
];
