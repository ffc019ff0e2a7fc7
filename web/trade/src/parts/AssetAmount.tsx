import { Amount } from "#lib/components/Amount.tsx";
import { shownText } from "./assetPlaces.ts";

/** An amount in the places of its asset; the pointer shows the exact value where that has more. */
export function AssetAmount({
  value,
  asset,
  hasUnit = true,
  signed = false,
}: {
  value: string;
  asset: string;
  hasUnit?: boolean;
  /** Write a plus before what is positive. */
  signed?: boolean;
}) {
  const { text, places } = shownText(value, asset);
  const amount = <Amount value={text} places={places} unit={hasUnit ? asset : undefined} signed={signed} />;
  return text === value ? amount : <span title={`${value} ${asset}`}>{amount}</span>;
}
