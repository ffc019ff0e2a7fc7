import { formatDecimal } from "#lib/decimal.ts";
import { compareDecimals } from "#lib/decimal.ts";
import classes from "./Change.module.css";

/** A change in percent: arrow, sign and colour say the same. */
export function Change({ percent }: { percent: string | null }) {
  if (percent === null) return <span className={classes.none}>–</span>;
  const [whole = "", fraction = ""] = percent.split(".");
  // Two digits are enough for the change of a day; nothing is computed from them.
  const shown = `${whole}.${fraction.padEnd(2, "0").slice(0, 2)}`;
  const sign = compareDecimals(percent, "0");
  return (
    <span className={`figures ${classes.change ?? ""}`} data-sign={sign}>
      <span aria-hidden>{sign > 0 ? "▲" : sign < 0 ? "▼" : "•"}</span> {sign > 0 ? "+" : ""}
      {formatDecimal(shown)} %
    </span>
  );
}
