import { cutDecimal, formatDecimal, isDecimal } from "../decimal.ts";
import { separators } from "../separators.ts";
import classes from "./Amount.module.css";

interface AmountProps {
  /** The decimal as the platform sent it. */
  value: string;
  unit?: string | undefined;
  /** Digits after the point at least; more are always shown. */
  places?: number | undefined;
  /** Digits after the point at most: what is beyond is cut, and under the pointer. */
  placesMax?: number | undefined;
  /** Write a plus before what is positive. */
  signed?: boolean;
}

/** An amount with its digits, all of them by default, in figures of one width; the fraction's closing zeros stand back. */
export function Amount({ value, unit, places = 0, placesMax, signed = false }: AmountProps) {
  const shown = placesMax === undefined ? value : cutDecimal(value, placesMax);
  const text = formatDecimal(shown, places);
  const zeros = isDecimal(value) ? closingZeros(text) : "";
  const head = text.slice(0, text.length - zeros.length);
  const isZero = /^[−]?0$/.test(head);
  const plus = signed && !text.startsWith("−") && !isZero ? "+" : "";
  return (
    <span
      className={`figures ${classes.amount ?? ""}`}
      data-zero={isZero || undefined}
      title={shown === value ? undefined : [value, unit].filter(Boolean).join(" ")}
    >
      {plus}
      {head}
      {zeros && <span className={classes.zeros}>{zeros}</span>}
      {unit && <span className={classes.unit}> {unit}</span>}
    </span>
  );
}

/** The zeros at the end of a fraction, with the decimal sign if there is nothing else behind it. */
function closingZeros(text: string): string {
  const at = text.lastIndexOf(separators().decimal);
  if (at < 0) return "";
  const fraction = text.slice(at + 1);
  const kept = fraction.replace(/0+$/, "");
  return kept === "" ? text.slice(at) : fraction.slice(kept.length);
}
