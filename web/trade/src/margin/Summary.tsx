import { Button } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { rich, t } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import { ceilTo, ONE, readScaled, toScaled } from "#lib/scaled.ts";
import { formatClock } from "#lib/time.ts";
import { availableMargin, boundMargin, holdingsOf, inCents, marksOf, unsureOf } from "./figures.ts";
import { LevelScale } from "./LevelScale.tsx";
import classes from "./Margin.module.css";
import type { MarginAccount } from "./queries.ts";

const CENT = ONE / 100n;

/** The account as a whole: how safe it is, what it is worth, what it owes. */
export function Summary({
  account,
  staleSince,
  onMove,
}: {
  account: MarginAccount;
  /** When the figures were read, where they are old; the lists say why. */
  staleSince: number | null;
  onMove: (direction: "in" | "out") => void;
}) {
  const zone = useZone();
  const notice = useId();
  const { valuationAsset, equity, debt, positions, status } = account;
  const worth = (value: bigint | null): ReactNode =>
    value === null ? (
      <span className={classes.waits}>{t("Waits for a price")}</span>
    ) : (
      <Amount value={inCents(value)} unit={valuationAsset} places={2} />
    );
  const available = availableMargin(account);
  const unsure = unsureOf(holdingsOf(account.balances), marksOf(account));
  const debtValue = debt === null ? null : readScaled(debt);
  const rows: [name: string, value: ReactNode, hint: string][] = [
    [
      t("Equity"),
      worth(equity === null ? null : toScaled(equity)),
      t("What the account holds, less what it owes"),
    ],
    [t("Debt"), worth(debtValue && ceilTo(debtValue, CENT)), t("With its interest")],
    [t("Margin in use"), worth(ceilTo(boundMargin(positions), CENT)), t("What open positions need")],
    [
      t("Margin available"),
      worth(available),
      t("What new positions can use; collateral counts up to what its market can absorb"),
    ],
  ];
  return (
    <Card
      title={t("Account")}
      actions={
        <div className={classes.actions}>
          <Button size="xs" variant="default" onClick={() => onMove("in")}>
            {t("Move in")}
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={status !== "active"}
            aria-describedby={status === "active" ? undefined : notice}
            onClick={() => onMove("out")}
          >
            {t("Move out")}
          </Button>
        </div>
      }
    >
      {status === "liquidating" && (
        <div id={notice} className={classes.notice}>
          <WarningNote>
            {rich(
              "{strong} The exchange sells what is needed to repay the loans. Until that has ended you can move collateral in, and nothing else.",
              { strong: <strong>{t("Your account is being liquidated.")}</strong> },
            )}
          </WarningNote>
        </div>
      )}
      {unsure !== null && (
        <div className={classes.notice}>
          <WarningNote>
            {rich(
              "{strong} {unsure}. Until then you can repay, move collateral in and close positions. Nothing is borrowed, opened or moved out, and nobody is liquidated at this price.",
              { strong: <strong>{t("A price is not sure:")}</strong>, unsure },
            )}
          </WarningNote>
        </div>
      )}
      <div className={classes.summary}>
        <LevelScale account={account} />
        <dl className={classes.worth}>
          {rows.map(([name, value, hint]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <span className={classes.value}>{value}</span>
                <span className={classes.hint}>{hint}</span>
              </dd>
            </div>
          ))}
        </dl>
      </div>
      {staleSince !== null && (
        <p className={classes.stale}>
          {rich("Shown as of {staleSince}. The page tries again by itself.", {
            staleSince: formatClock(staleSince, zone),
          })}
        </p>
      )}
      <p className={classes.valued}>
        {rich(
          "Valued in {valuationAsset} at fair prices: what you hold at the lower bound, what you owe at the upper one.",
          { valuationAsset },
        )}
      </p>
    </Card>
  );
}
