/** The times of which realised results are shown. */
import { t } from "#lib/language.ts";

export const PERIODS = [
  {
    value: "today",
    get label() {
      return t("Today");
    },
  },
  {
    value: "week",
    get label() {
      return t("7 days");
    },
  },
  {
    value: "month",
    get label() {
      return t("30 days");
    },
  },
  {
    value: "all",
    get label() {
      return t("All");
    },
  },
] as const;
export type Period = (typeof PERIODS)[number]["value"];
