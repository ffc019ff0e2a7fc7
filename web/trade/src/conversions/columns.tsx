/** The columns of conversions, and the name of a row. */
import { Badge } from "#lib/components/Badge.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import type { Conversion } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

export const CONVERSION_COLUMNS: Column<Conversion>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  {
    id: "from",
    title: "Given",
    align: "right",
    cell: ({ fromAmount, fromAsset }) => <AssetAmount value={fromAmount} asset={fromAsset} />,
  },
  {
    id: "to",
    title: "Got",
    align: "right",
    cell: ({ toAmount, toAsset }) => <AssetAmount value={toAmount} asset={toAsset} />,
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
