import { t, texts } from "#lib/language.ts";
import { isBound, type Order } from "../api/orderKinds.ts";

const ROLES: Readonly<Record<NonNullable<Order["listRole"]>, string>> = {
  get entry() {
    return t("entry");
  },
  get take_profit() {
    return t("take profit");
  },
  get stop_loss() {
    return t("stop loss");
  },
};
const NAMES: Readonly<Record<NonNullable<Order["listType"]>, string>> = texts({
  oco: "OCO",
  oto: "Entry with exit",
  bracket: "Bracket",
});

/** What an order is in its list, and which orders belong together: "Bracket 4f2a: take profit, waits for its entry". */
export function listName(order: Order): string {
  const { listId = "", listType, listRole, listState } = order;
  if (!listType || !listRole) return "";
  const role = ROLES[listRole];
  const state =
    listState === "planned"
      ? `, ${t("waits for its entry")}`
      : isBound(order)
        ? ""
        : `, ${t("goes on alone")}`;
  return `${t(NAMES[listType])} ${listId.slice(-4)}: ${role}${state}`;
}
