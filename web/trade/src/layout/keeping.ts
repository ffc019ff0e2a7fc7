/** Keeps a layout: with a session at the account, else in this browser. */
import type { QueryClient } from "@tanstack/react-query";
import type { Client } from "../api/client.ts";
import { currentSession } from "../api/session.ts";
import type { Outcome } from "./account.ts";
import { keepHere } from "./kept.ts";
import type { Layout, WidthClass } from "./model.ts";

/** Keep a layout, null for the standard, in the place of a version of it; null: of what is known by then. */
export async function keepLayout(
  rest: Client,
  client: QueryClient,
  width: WidthClass,
  layout: Layout | null,
  version: number | null,
): Promise<Outcome> {
  if (currentSession() !== null)
    return (await import("./account.ts")).keepAtAccount(rest, client, width, layout ?? [], version);
  keepHere(width, layout);
  return { isKept: true, version: 0 };
}
