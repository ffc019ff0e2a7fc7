import { t, texts } from "#lib/language.ts";
import { toScaled } from "#lib/scaled.ts";
import { percentOf, scaleShare, type RiskBand, riskBandOf } from "./figures.ts";
import classes from "./LevelScale.module.css";
import type { MarginAccount } from "./queries.ts";

const WORDS: Readonly<Record<RiskBand, readonly [title: string, shape: string, text: string]>> = texts({
  safe: ["Safe", "●", "The exchange warns you at 150 % and steps in at 105 %."],
  warning: [
    "Warning",
    "▲",
    "At 105 % the exchange closes your positions. Move collateral in, close a position or repay a loan.",
  ],
  liquidation: [
    "Liquidation",
    "■",
    "The exchange closes your positions at market prices and repays the loans.",
  ],
});

/** How far the account is from its liquidation: the level in figures, in words, and on a scale. */
export function LevelScale({ account }: { account: MarginAccount }) {
  const { marginLevel, equity, status } = account;
  if (equity === null) {
    return (
      <div className={classes.level} data-risk-band="unpriced">
        <p className={classes.figure}>{t("Waits for a price")}</p>
        <p className={classes.text}>
          {t(
            "An asset of the account has no current price, so its level is not known. Nothing is liquidated meanwhile.",
          )}
        </p>
      </div>
    );
  }
  const level = marginLevel === null ? null : toScaled(marginLevel);
  const riskBand = status === "liquidating" ? "liquidation" : riskBandOf(level);
  const [title, shape, text] = WORDS[riskBand];
  const figure = level === null ? t("No debt") : percentOf(level);
  return (
    <div className={classes.level} data-risk-band={riskBand}>
      <p className={classes.figure}>
        <span className="figures">{figure}</span>
        <span className={classes.word}>
          <span aria-hidden>{shape}</span> {t(title)}
        </span>
      </p>
      <div
        className={classes.scale}
        role="meter"
        aria-label={t("Margin level")}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(scaleShare(level) * 100)}
        aria-valuetext={`${figure}: ${t(title)}`}
      >
        <span className={classes.riskBand} data-risk-band="liquidation" />
        <span className={classes.riskBand} data-risk-band="warning" />
        <span className={classes.riskBand} data-risk-band="safe" />
        <span className={classes.mark} style={{ left: `${scaleShare(level) * 100}%` }} />
      </div>
      <div className={classes.legend} aria-hidden>
        <span>{t("Liquidation")}</span>
        <span>{t("Warning")}</span>
        <span>{t("Safe")}</span>
      </div>
      <div className={classes.bounds} aria-hidden>
        <span>105 %</span>
        <span>150 %</span>
        <span>300 %</span>
      </div>
      <p className={classes.text}>
        {level === null && riskBand === "safe" ? t("Nothing is owed.") : t(text)}
      </p>
    </div>
  );
}
