/** The pages about the user's money, in the order of their bar. The header shows them as one. */
import { t } from "#lib/language.ts";
export const FUNDS_PAGES = [
  {
    path: "/wallet",
    get title() {
      return t("Balances");
    },
  },
  {
    path: "/portfolio",
    get title() {
      return t("Portfolio");
    },
  },
  {
    path: "/withdrawals",
    get title() {
      return t("Withdraw");
    },
  },
  {
    path: "/staking",
    get title() {
      return t("Staking");
    },
  },
  {
    path: "/history",
    get title() {
      return t("History");
    },
  },
  {
    path: "/reserves",
    get title() {
      return t("Reserves");
    },
  },
] as const;
