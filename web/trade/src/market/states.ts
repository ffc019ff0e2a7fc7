/** What a market takes by its status, and how the list of all markets orders them. Pure. */
import type { Market } from "../api/queries.ts";

const CLOSED: ReadonlySet<Market["status"]> = new Set(["announced", "delisting", "delisted"]);

/** Whether the status excludes every order, so that there is nothing to ask for in a form. */
export const isClosed = ({ status }: Pick<Market, "status">): boolean => CLOSED.has(status);

/**
 * The markets of the list, and apart from them the delisted ones. A market that an operator has closed for a while is not
 * listed, except where the reader is.
 */
export function listedMarkets<One extends Pick<Market, "symbol" | "active" | "status">>(
  markets: readonly One[],
  current: string,
): { listed: One[]; delisted: One[] } {
  return {
    listed: markets.filter(
      ({ symbol, active, status }) =>
        status !== "delisted" && (active || isClosed({ status }) || symbol === current),
    ),
    delisted: markets.filter(({ status }) => status === "delisted"),
  };
}
