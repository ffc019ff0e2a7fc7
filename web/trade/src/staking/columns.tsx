/** The columns of the history of stakes. */
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { t } from "#lib/language.ts";
import type { StakingEvent } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const EVENTS: Readonly<Record<StakingEvent["type"], string>> = {
  get stake() {
    return t("Staked");
  },
  get reward() {
    return t("Reward of a day");
  },
  get unstake() {
    return t("Taken back");
  },
  get reward_forfeited() {
    return t("Reward lost");
  },
  get payout() {
    return t("Paid back");
  },
  get reward_payout() {
    return t("Reward paid");
  },
};

export const STAKING_EVENT_COLUMNS: Column<StakingEvent>[] = [
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
    cell: ({ type }) => EVENTS[type],
  },
  {
    id: "amount",
    get title() {
      return t("Amount");
    },
    align: "right",
    cell: ({ amount, asset }) => <AssetAmount value={amount} asset={asset} />,
  },
];
