import { formatDecimal } from "../decimal.ts";
import classes from "./Amount.module.css";

interface AmountProps {
  /** The decimal as the platform sent it. */
  value: string;
  unit?: string | undefined;
  /** Digits after the point at least; more are always shown. */
  places?: number | undefined;
  /** Write a plus before what is positive. */
  signed?: boolean;
}

/** An amount with all of its digits, in figures of one width; the fraction's closing zeros stand back. */
export function Amount({ value, unit, places = 0, signed = false }: AmountProps) {
  const text = formatDecimal(value, places);
  const [, head = text, zeros = ""] = /^(.*?)((?:\.0+|(?<=\.\d*[1-9])0+)?)$/.exec(text) ?? [];
  const isZero = /^[−]?0$/.test(head);
  const plus = signed && !text.startsWith("−") && !isZero ? "+" : "";
  return (
    <span className={`figures ${classes.amount ?? ""}`} data-zero={isZero || undefined}>
      {plus}
      {head}
      {zeros && <span className={classes.zeros}>{zeros}</span>}
      {unit && <span className={classes.unit}> {unit}</span>}
    </span>
  );
}
