/** The columns of deposits, the id of a row, and its menu. */
import { Badge } from "#lib/components/Badge.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { plural } from "#lib/counts.ts";
import type { Deposit } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

export const DEPOSIT_COLUMNS: Column<Deposit>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: ({ amount, asset }) => <AssetAmount value={amount} asset={asset} />,
  },
  { id: "network", title: "Network", cell: ({ network }) => network || "Booked by the exchange" },
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

/** The asset is part of the id, because one transaction may bring several assets. */
export const depositId = ({ txHash, asset }: Deposit) => `${txHash} ${asset}`;

export const depositActions = ({ txHash, address }: Deposit) => [
  { label: "Copy transaction", onClick: () => copyAndTell(txHash) },
  ...(address === "" ? [] : [{ label: "Copy address", onClick: () => copyAndTell(address) }]),
];
