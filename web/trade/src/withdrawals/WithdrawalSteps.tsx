import { VisuallyHidden } from "@mantine/core";
import { CheckIcon, XIcon } from "@primer/octicons-react";
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import type { Withdrawal } from "./queries.ts";
import { type StepState, stepsOf } from "./steps.ts";
import classes from "./WithdrawalSteps.module.css";

const SPOKEN: Readonly<Record<StepState, string>> = {
  get done() {
    return t("done");
  },
  get current() {
    return t("under way");
  },
  get waiting() {
    return t("to come");
  },
  get stopped() {
    return t("ended here");
  },
};

/** The steps of a withdrawal in a row, or below each other where there is no room; `upright` is always the latter. */
export function WithdrawalSteps({
  withdrawal,
  upright = false,
}: {
  withdrawal: Withdrawal;
  upright?: boolean;
}) {
  return (
    <ol
      className={classes.steps}
      data-upright={upright || undefined}
      aria-label={t("Steps of {amount} {asset}", {
        amount: formatDecimal(withdrawal.amount),
        asset: withdrawal.asset,
      })}
    >
      {stepsOf(withdrawal).map(({ id, name, state, note }, index) => (
        <li key={id} data-state={state} aria-current={state === "current" ? "step" : undefined}>
          <span className={classes.mark} aria-hidden>
            {state === "done" ? (
              <CheckIcon size={14} />
            ) : state === "stopped" ? (
              <XIcon size={14} />
            ) : (
              index + 1
            )}
          </span>
          <span className={classes.words}>
            <span className={classes.name}>{name}</span>
            <VisuallyHidden>: {SPOKEN[state]}</VisuallyHidden>
            {note && (
              <span className={`figures ${classes.note ?? ""}`} lang={note.language}>
                {note.detail}
              </span>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}
