import { SegmentedControl } from "@mantine/core";
import { t } from "#lib/language.ts";
import orderForm from "../orders/OrderForm.module.css";

/** Which side an order is of, in the words of its form. */
export function SideChoice({
  side,
  buy,
  sell,
  onSide,
}: {
  side: "buy" | "sell";
  buy: string;
  sell: string;
  onSide: (side: "buy" | "sell") => void;
}) {
  return (
    <SegmentedControl
      fullWidth
      aria-label={t("Side")}
      className={orderForm.sides}
      data-side={side}
      data={[
        { value: "buy", label: buy },
        { value: "sell", label: sell },
      ]}
      value={side}
      onChange={(next) => onSide(next === "sell" ? "sell" : "buy")}
    />
  );
}
