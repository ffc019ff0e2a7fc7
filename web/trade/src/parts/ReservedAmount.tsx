import { AssetAmount } from "./AssetAmount.tsx";

const MEANING = "Held for the fees of open orders and for withdrawals under way";

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
    "not known now"
  ) : (
    <span title={MEANING}>
      <AssetAmount value={value} asset={asset} hasUnit={hasUnit} />
    </span>
  );
}
