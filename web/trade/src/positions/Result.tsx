import { t } from "#lib/language.ts";
import classes from "./Result.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";

/** A profit or a loss: its sign says which, the colour says it again. Null is a sum without a price. */
export function Result({ value, unit }: { value: string | null; unit: string }) {
  if (value === null) return t("no price");
  const tone = value.startsWith("-") ? "negative" : /[1-9]/.test(value) ? "positive" : undefined;
  return (
    <span className={classes.result} data-tone={tone}>
      <AssetAmount value={value} asset={unit} signed />
    </span>
  );
}
