import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import classes from "./BookShare.module.css";
import { shareOfBids } from "./shareOfBids.ts";

/** How the depth in sight is shared out between bids and asks, by their totals. */
export default function BookShare({ bids, asks }: { bids: bigint; asks: bigint }) {
  const share = shareOfBids(bids, asks);
  if (share === null) return <div className={classes.share} />;
  const [buys, sells] = [formatDecimal(String(share)), formatDecimal(String(100 - share))];
  return (
    <div
      className={`figures ${classes.share ?? ""}`}
      role="img"
      aria-label={t("Of the depth in sight {buys} % are bids and {sells} % asks", { buys, sells })}
    >
      <span className={classes.bids}>▲ {buys} %</span>
      <span className={classes.bar} style={{ backgroundSize: `${String(share)}% 100%` }} />
      <span className={classes.asks}>{sells} % ▼</span>
    </div>
  );
}
