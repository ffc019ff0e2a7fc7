/** The orders and trades of all users, as operators read them at the REST edge. */
import type { UrlState } from "#lib/urlState.ts";
import { type Edge, type Schemas, returned } from "../operator/client.ts";
import { daysOf, spanOf } from "./span.ts";

export type ListedOrder = Schemas["OrderRecord"];
export type ListedTrade = Schemas["OperatedTrade"];

const OPEN = ["pending", "open", "partially_filled"];
/** The statuses of orders that have not ended, as the edge takes them. */
export const STILL_OPEN = OPEN.join(",");
const MARGIN_PREFIX = "margin:";
const HOUSE_PREFIX = "house:";

export function isOpen({ status }: Pick<ListedOrder, "status">): boolean {
  return OPEN.includes(status);
}

/** The user whose account this is, or null for one of the house. A margin account is its user's. */
export function ownerOf(account: string): string | null {
  if (account.startsWith(HOUSE_PREFIX)) return null;
  if (!account.startsWith(MARGIN_PREFIX)) return account;
  return account.slice(MARGIN_PREFIX.length).split(":")[0] ?? null;
}

/** What an account of a user is called: "Spot", "Margin", and "Margin 2" for the one after that was closed. */
export function accountName(account: string): string {
  if (!account.startsWith(MARGIN_PREFIX)) return "Spot";
  const number = account.slice(MARGIN_PREFIX.length).split(":")[1];
  return number === undefined ? "Margin" : `Margin ${number}`;
}

/** The account of a user that an address names, as the edge takes it; all accounts if it names none of them. */
export function accountQuery(
  parameter: UrlState["parameter"],
  accounts: readonly string[],
): { account?: string } {
  const account = parameter("account");
  return accounts.includes(account) ? { account } : {};
}

/** Why an order cannot be cancelled, or undefined. */
export function keptFromCancel(order: Pick<ListedOrder, "status" | "userId">): string | undefined {
  if (!isOpen(order)) return "The order has ended.";
  return noUsersOwn(order);
}

/** Why an order is not of a user's own account, or undefined. */
function noUsersOwn({ userId }: Pick<ListedOrder, "userId">): string | undefined {
  if (userId.startsWith(HOUSE_PREFIX)) return "The order is the house's own.";
  if (userId.startsWith(MARGIN_PREFIX)) return "Closing the position cancels orders of a margin account.";
  return undefined;
}

/** Whose open orders are cancelled for these orders, and how many of these are nobody's own, by the reason. */
export interface Cancellable {
  users: readonly string[];
  leftOut: readonly { reason: string; count: number }[];
}

/** The users of orders, each once. An account of margin or of the house is none. */
export function usersToCancel(orders: readonly Pick<ListedOrder, "userId">[]): Cancellable {
  const users = new Set<string>();
  const reasons = new Map<string, number>();
  for (const order of orders) {
    const reason = noUsersOwn(order);
    if (reason === undefined) users.add(order.userId);
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return { users: [...users], leftOut: [...reasons].map(([reason, count]) => ({ reason, count })) };
}

/** The filters of an address that both lists have, as the edge takes them; what is not set filters nothing. */
export function tradingQuery(parameter: UrlState["parameter"]) {
  const user = parameter("user");
  const symbol = parameter("symbol");
  const side = sideOf(parameter("side"));
  return {
    ...(user === "" ? {} : { userId: user }),
    ...(symbol === "" ? {} : { symbol }),
    ...(side === null ? {} : { side }),
    ...spanOf(daysOf(parameter)),
  };
}

function sideOf(text: string): "buy" | "sell" | null {
  return text === "buy" || text === "sell" ? text : null;
}

/** Cancel an open order of a user. A request that is repeated under its key gets the first outcome. Fails with EdgeError. */
export function cancelOrder({ rest }: Edge, orderId: string, reason: string, key: string) {
  return returned(
    rest.POST("/api/v1/operator/orders/{orderId}/cancellation", {
      params: { path: { orderId }, header: { "Idempotency-Key": key } },
      body: { reason },
    }),
  );
}
