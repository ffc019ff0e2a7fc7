/** What the forms of the margin mode share. */
import { Button, SegmentedControl } from "@mantine/core";
import { type KeyboardEvent, useId } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { t } from "#lib/language.ts";
import type { Market } from "../api/queries.ts";
import orderForm from "../orders/OrderForm.module.css";
import { stepped } from "../orders/review.ts";
import classes from "./Margin.module.css";

type Side = "buy" | "sell";

/** Which side an order is of, in the words of its form. */
export function SideChoice({
  side,
  buy,
  sell,
  onSide,
}: {
  side: Side;
  buy: string;
  sell: string;
  onSide: (side: Side) => void;
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

/** Makes the arrow keys change a number by steps, with Shift by ten. */
export function stepKeys(value: string, step: string, onValue: (value: string) => void) {
  return (event: KeyboardEvent) => {
    const by = { ArrowUp: 1n, ArrowDown: -1n }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    onValue(stepped(value, step, by * (event.shiftKey ? 10n : 1n)));
  };
}

/** A quantity in the base asset of a market. */
export function QuantityField({
  market,
  value,
  error,
  onValue,
}: {
  market: Market | undefined;
  value: string;
  error: string | null | undefined;
  onValue: (value: string) => void;
}) {
  return (
    <DecimalField
      label={t("Quantity")}
      value={value}
      error={error}
      rightSection={<span className={classes.unit}>{market?.baseAsset}</span>}
      rightSectionWidth={64}
      onValue={onValue}
      onKeyDown={stepKeys(value, market?.lotSize ?? "1", onValue)}
    />
  );
}

/** The button of a form, why it cannot be used now, and what to know before. */
export function Submit({
  side,
  action,
  blocked,
  note,
}: {
  side: Side;
  action: string;
  blocked: string | null;
  note: string;
}) {
  const hint = useId();
  return (
    <>
      <Button
        type="submit"
        size="md"
        fullWidth
        className={orderForm.submit}
        data-side={side}
        disabled={blocked !== null}
        aria-describedby={hint}
      >
        {action}
      </Button>
      <p id={hint} className={orderForm.hint} role="status">
        {blocked ?? ""}
      </p>
      <p className={classes.note}>{note}</p>
    </>
  );
}
