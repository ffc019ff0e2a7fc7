import { useInViewport } from "@mantine/hooks";
import { compareDecimals } from "#lib/decimal.ts";
import { readScaled, shareOfScaled } from "#lib/scaled.ts";
import { useDayCloses } from "./dayCloses.ts";
import classes from "./Sparkline.module.css";

const WIDTH = 72;
const HEIGHT = 22;

/**
 * The closing prices of a day as a small line, read once it is in sight; a picture beside figures that say the same. Its
 * colour is that of `change`, the figure beside it: the line is of whole hours, the figure of 24 hours to the minute.
 */
export function Sparkline({ symbol, change }: { symbol: string; change: string | null }) {
  const { ref, inViewport } = useInViewport<HTMLSpanElement>();
  const { data = [], isFetching } = useDayCloses(symbol, inViewport);
  const closes = data.map(({ close }) => readScaled(close) ?? 0n);
  return (
    <span ref={ref} className={classes.box} aria-busy={(isFetching && data.length === 0) || undefined}>
      {closes.length > 1 && (
        <svg
          className={classes.line}
          width={WIDTH}
          height={HEIGHT}
          aria-hidden
          data-falling={(change !== null && compareDecimals(change, "0") < 0) || undefined}
        >
          <polyline points={pointsOf(closes)} />
        </svg>
      )}
    </span>
  );
}

function pointsOf(closes: readonly bigint[]): string {
  const low = closes.reduce((a, b) => (b < a ? b : a));
  const high = closes.reduce((a, b) => (b > a ? b : a));
  return closes
    .map((close, index) => {
      const x = (index / (closes.length - 1)) * WIDTH;
      const y = 1 + (1 - shareOfScaled(close - low, high - low || 1n)) * (HEIGHT - 2);
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join(" ");
}
