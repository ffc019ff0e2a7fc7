/** The columns of the history of stakes. */
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import type { StakingEvent } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

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
    cell: ({ amount, asset }) => <AssetAmount value={amount} asset={asset} />,
  },
];
