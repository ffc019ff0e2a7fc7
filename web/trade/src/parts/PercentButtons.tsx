import { Button } from "@mantine/core";
import { t } from "#lib/language.ts";
import classes from "./PercentButtons.module.css";

const PERCENTS = [25n, 50n, 75n, 100n] as const;

interface PercentButtonsProps {
  /** What the parts are parts of: "what is free". */
  of: string;
  disabled: boolean;
  onPercent: (percent: bigint) => void;
}

/** Fills an amount in as a part of something. */
export function PercentButtons({ of, disabled, onPercent }: PercentButtonsProps) {
  return (
    <div className={classes.percents} role="group" aria-label={t("Part of {of}", { of })}>
      {PERCENTS.map((percent) => (
        <Button
          key={percent.toString()}
          size="compact-xs"
          variant="default"
          disabled={disabled}
          aria-label={
            percent === 100n
              ? t("Max, {percent} % of {of}", { percent, of })
              : t("{percent} % of {of}", { percent, of })
          }
          onClick={() => onPercent(percent)}
        >
          {percent === 100n ? t("Max") : `${percent} %`}
        </Button>
      ))}
    </div>
  );
}
