import { t } from "#lib/language.ts";
import { AssetAmount } from "./AssetAmount.tsx";

/** What is neither free nor in orders. The ledger, which answers while the engine does not, does not know it. */
export function ReservedAmount({
  value,
  asset,
  hasUnit = true,
}: {
  value: string | null;
  asset: string;
  hasUnit?: boolean;
}) {
  return value === null ? (
    t("not known now")
  ) : (
    <span title={t("Held for the fees of open orders and for withdrawals under way")}>
      <AssetAmount value={value} asset={asset} hasUnit={hasUnit} />
    </span>
  );
}
