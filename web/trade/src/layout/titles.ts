/** What panels are called where they are edited. */
import { t } from "#lib/language.ts";
import type { PanelId } from "./model.ts";

export function titleOf(id: PanelId): string {
  switch (id) {
    case "chart":
      return t("Chart");
    case "book":
      return t("Order book");
    case "trades":
      return t("Trades");
    case "form":
      return t("Order form");
    case "orders":
      return t("Your orders");
    case "depth":
      return t("Depth");
    case "markets":
      return t("Markets");
    default:
      return t("Chart {number}", { number: id.slice("chart-".length) });
  }
}
