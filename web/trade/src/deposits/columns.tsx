/** The columns of deposits, the id of a row, and its menu. */
import { Badge } from "#lib/components/Badge.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { several, t } from "#lib/language.ts";
import type { Deposit } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

export const DEPOSIT_COLUMNS: Column<Deposit>[] = [
  {
    id: "time",
    get title() {
      return t("Time");
    },
    cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
  },
  {
    id: "amount",
    get title() {
      return t("Amount");
    },
    align: "right",
    cell: ({ amount, asset }) => <AssetAmount value={amount} asset={asset} />,
  },
  {
    id: "network",
    get title() {
      return t("Network");
    },
    cell: ({ network }) => network || t("Booked by the exchange"),
  },
  {
    id: "state",
    get title() {
      return t("State");
    },
    cell: ({ status, requiredConfirmations }) =>
      status === "confirmed" ? (
        <Badge tone="positive" shape="●">
          {t("Credited")}
        </Badge>
      ) : status === "waiting" ? (
        <Badge tone="warning" shape="◐">
          {t("Waits for the end of a pause")}
        </Badge>
      ) : (
        <Badge tone="warning" shape="◐">
          {several(
            requiredConfirmations,
            "Waits for {count} confirmation",
            "Waits for {count} confirmations",
          )}
        </Badge>
      ),
  },
];

/** The asset is part of the id, because one transaction may bring several assets. */
export const depositId = ({ txHash, asset }: Deposit) => `${txHash} ${asset}`;

export const depositActions = ({ txHash, address }: Deposit) => [
  { label: t("Copy transaction"), onClick: () => copyAndTell(txHash) },
  ...(address === "" ? [] : [{ label: t("Copy address"), onClick: () => copyAndTell(address) }]),
];
