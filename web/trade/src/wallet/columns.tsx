/** The columns and row menus of what moved the user's funds, wherever it is listed. */
import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { plural } from "#lib/counts.ts";
import type { Conversion, Deposit, StakingEvent, Transaction, Withdrawal } from "./queries.ts";
import { WithdrawalBadge } from "./withdrawalLabels.tsx";
import classes from "./Withdrawal.module.css";

export const DEPOSIT_COLUMNS: Column<Deposit>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: ({ amount, asset }) => <Amount value={amount} unit={asset} />,
  },
  { id: "network", title: "Network", cell: ({ network }) => network },
  {
    id: "state",
    title: "State",
    cell: ({ status, requiredConfirmations }) =>
      status === "confirmed" ? (
        <Badge tone="positive" shape="●">
          Credited
        </Badge>
      ) : (
        <Badge tone="warning" shape="◐">
          Waits for {plural(requiredConfirmations, "confirmation")}
        </Badge>
      ),
  },
];

/** One transaction may bring several assets. */
export const depositId = ({ txHash, asset }: Deposit) => `${txHash} ${asset}`;

export const depositActions = ({ txHash, address }: Deposit) => [
  { label: "Copy transaction", onClick: () => copyAndTell(txHash) },
  { label: "Copy address", onClick: () => copyAndTell(address) },
];

/** What a row is called that is an amount of one asset. */
export const amountName = ({ amount, asset }: { amount: string; asset: string }) => `${amount} ${asset}`;

export const WITHDRAWAL_COLUMNS: Column<Withdrawal>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: ({ amount, asset }) => <Amount value={amount} unit={asset} />,
  },
  {
    id: "arrives",
    title: "Arrives",
    align: "right",
    cell: ({ netAmount, asset }) => <Amount value={netAmount} unit={asset} />,
  },
  {
    id: "to",
    title: "To",
    cell: ({ address }) => <span className={`figures ${classes.address ?? ""}`}>{address}</span>,
  },
  { id: "network", title: "Network", cell: ({ network }) => network },
  { id: "state", title: "State", cell: ({ status }) => <WithdrawalBadge status={status} /> },
];

export const CONVERSION_COLUMNS: Column<Conversion>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  {
    id: "from",
    title: "Given",
    align: "right",
    cell: ({ fromAmount, fromAsset }) => <Amount value={fromAmount} unit={fromAsset} />,
  },
  {
    id: "to",
    title: "Got",
    align: "right",
    cell: ({ toAmount, toAsset }) => <Amount value={toAmount} unit={toAsset} />,
  },
  {
    id: "state",
    title: "State",
    cell: ({ status, failureCode }) =>
      status === "completed" ? (
        <Badge tone="positive" shape="●">
          Done
        </Badge>
      ) : status === "failed" ? (
        <Badge tone="negative" shape="!">
          Failed: {failureCode ?? "no reason given"}
        </Badge>
      ) : (
        <Badge tone="warning" shape="◐">
          Under way
        </Badge>
      ),
  },
];

export const conversionName = ({ fromAmount, fromAsset, toAsset }: Conversion) =>
  `${fromAmount} ${fromAsset} into ${toAsset}`;

const EVENTS: Readonly<Record<StakingEvent["type"], string>> = {
  stake: "Staked",
  reward: "Reward of a day",
  unstake: "Taken back",
  reward_forfeited: "Reward lost",
  payout: "Paid back",
  reward_payout: "Reward paid",
};

export const STAKING_EVENT_COLUMNS: Column<StakingEvent>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  { id: "what", title: "What", cell: ({ type }) => EVENTS[type] },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: ({ amount, asset }) => <Amount value={amount} unit={asset} />,
  },
];

export const MOVEMENT_COLUMNS: Column<Transaction>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  { id: "what", title: "What", cell: ({ referenceType }) => words(referenceType) },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: ({ amount, asset }) => <Amount value={amount} unit={asset} signed />,
  },
  {
    id: "balance",
    title: "Balance after",
    align: "right",
    cell: ({ balance, asset }) => <Amount value={balance} unit={asset} />,
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
