import { Badge } from "#lib/components/Badge.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { t, texts } from "#lib/language.ts";
import type { Market } from "../api/queries.ts";
import classes from "./MarketState.module.css";

const STATES: Readonly<Record<Market["status"], readonly [title: string, text: string]>> = texts({
  announced: ["Announced", "The market takes no orders yet."],
  "post-only": ["Before the opening", "It takes limit orders that wait in the book. Nothing trades yet."],
  auction: ["Opening auction", "It takes limit orders. They trade at one price when the market opens."],
  open: ["Trading", "It takes every order."],
  delisting: ["Being delisted", "It takes no more orders, and those that are open are being cancelled."],
  delisted: [
    "Delisted",
    "It takes no orders. Its trades and candles can be read. Balances stay and can be withdrawn.",
  ],
});

/** Of a market that does not trade yet, or no more: what it takes, what the operator announces, and when it changes. */
export default function MarketState({ market: { status, announcement, schedule } }: { market: Market }) {
  const [title, text] = STATES[status];
  return (
    <section className={classes.state} aria-label={t("State of the market")}>
      <p className={classes.line}>
        <Badge tone="warning" shape="■">
          {t(title)}
        </Badge>{" "}
        {t(text)}
      </p>
      {announcement !== "" && <p className={classes.announcement}>{announcement}</p>}
      {schedule.length > 0 && (
        <dl className={classes.times}>
          {schedule.map(({ status: next, at }) => (
            <div key={`${next} ${at}`}>
              <dt>{t(STATES[next][0])}</dt>
              <dd>
                <TimeText milliseconds={at} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
