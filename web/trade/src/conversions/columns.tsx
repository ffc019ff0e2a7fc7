/** The columns of conversions, and the name of a row. */
import { Badge } from "#lib/components/Badge.tsx";
import type { Column } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import type { Conversion } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { Said } from "../parts/Said.tsx";

export const CONVERSION_COLUMNS: Column<Conversion>[] = [
  {
    id: "time",
    get title() {
      return t("Time");
    },
    cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
  },
  {
    id: "from",
    get title() {
      return t("Given");
    },
    align: "right",
    cell: ({ fromAmount, fromAsset }) => <AssetAmount value={fromAmount} asset={fromAsset} />,
  },
  {
    id: "to",
    get title() {
      return t("Got");
    },
    align: "right",
    cell: ({ toAmount, toAsset }) => <AssetAmount value={toAmount} asset={toAsset} />,
  },
  {
    id: "state",
    get title() {
      return t("State");
    },
    cell: ({ status, failureCode }) =>
      status === "completed" ? (
        <Badge tone="positive" shape="●">
          {t("Done")}
        </Badge>
      ) : status === "failed" ? (
        <Badge tone="negative" shape="!">
          {rich("Failed: {failureCode}", {
            failureCode: failureCode === null ? t("no reason given") : <Said reason={failureCode} />,
          })}
        </Badge>
      ) : (
        <Badge tone="warning" shape="◐">
          {t("Under way")}
        </Badge>
      ),
  },
];

export const conversionName = ({ fromAmount, fromAsset, toAsset }: Conversion) =>
  t("{fromAmount} {fromAsset} into {toAsset}", { fromAmount: formatDecimal(fromAmount), fromAsset, toAsset });
