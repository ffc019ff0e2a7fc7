import { Button } from "@mantine/core";
import { Card } from "#lib/components/Card.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import classes from "./Margin.module.css";

/** What margin is and what it risks, for somebody who has no margin account. */
export function Welcome({ onBegin }: { onBegin: () => void }) {
  return (
    <Card title={t("You have no margin account yet")}>
      <p className={classes.lead}>
        {t(
          "Margin is trading with borrowed money. You move funds of yours into an account of its own, as collateral, and trade with up to ten times as much. The first move opens the account.",
        )}
      </p>
      <div className={classes.welcome}>
        <section>
          <h3>{t("How it works")}</h3>
          <p>
            {t(
              "To open a position, the exchange lends you what your own funds do not pay, and trades it at the market. Closing the position trades it back and repays the loan.",
            )}
          </p>
        </section>
        <section>
          <h3>{t("What it costs")}</h3>
          <p>
            {t(
              "The fees of both trades, and interest for every minute that a loan runs. Each loan shows its yearly rate and what it has cost so far.",
            )}
          </p>
        </section>
        <section>
          <h3>{t("What can go wrong")}</h3>
          <p>
            {t(
              "Losses grow as gains do: at ten times leverage a tenth against you takes all that you put in. When what you hold falls to 105 % of what you owe, the exchange sells it without asking.",
            )}
          </p>
        </section>
      </div>
      <div className={classes.closing}>
        <WarningNote>
          {t(
            "You can lose everything that you move in, within minutes. Your wallet stays apart: what you do not move in is not touched.",
          )}
        </WarningNote>
        <Button onClick={onBegin}>{t("Move collateral in and open the account")}</Button>
      </div>
    </Card>
  );
}
