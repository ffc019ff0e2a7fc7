import { t } from "#lib/language.ts";
import { percentOf, riskBandOf } from "./figures.ts";
import type { LevelAfter } from "./moves.ts";

const WORDS = {
  safe: () => "",
  warning: () => `, ${t("warning")}`,
  liquidation: () => `, ${t("liquidation")}`,
} as const;

/** A level in a row of a table, with its risk band unless that is the safe one. */
export function LevelText({ level }: { level: LevelAfter }) {
  if (level === "unpriced") return t("waits for a price");
  if (level === null) return t("no debt");
  return (
    <span className="figures">
      {percentOf(level)}
      {WORDS[riskBandOf(level)]()}
    </span>
  );
}
