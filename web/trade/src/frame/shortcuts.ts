/** The keys of the trading screen, as their list shows them; the parts of the page that they act on register them. */
import { t } from "#lib/language.ts";
export const SHORTCUTS = [
  {
    keys: "/",
    get title() {
      return t("Choose a market");
    },
  },
  {
    keys: "b",
    get title() {
      return t("Buy");
    },
  },
  {
    keys: "s",
    get title() {
      return t("Sell");
    },
  },
  {
    keys: "l",
    get title() {
      return t("Limit order");
    },
  },
  {
    keys: "m",
    get title() {
      return t("Market order");
    },
  },
  {
    keys: "↑ ↓",
    get title() {
      return t("In price and amount: one step (with Shift: ten)");
    },
  },
] as const;
