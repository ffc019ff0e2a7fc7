/** The drawings at the account, and whether there is anything to draw: all that a chart without drawings loads. */
import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { useStore } from "#lib/store.ts";
import { returned, useExchange } from "../api/client.ts";
import { useSession } from "../api/session.ts";
import { areToolsOpen, followTexts, keptText } from "./kept.ts";

export const DRAWINGS = "drawings";

/** The account's drawings on a market; read again when the reader comes back from another window. */
export function useAccountDrawings(symbol: string) {
  const { rest } = useExchange();
  const { session } = useSession();
  return useQuery({
    queryKey: [DRAWINGS, symbol],
    queryFn: ({ signal }) =>
      returned(rest.GET("/api/v1/drawings/{symbol}", { params: { path: { symbol } }, signal })),
    enabled: session !== null,
    refetchOnWindowFocus: true,
  });
}

/** What this browser keeps for a market. */
export function useKeptText(symbol: string): string | null {
  return useSyncExternalStore(followTexts, () => keptText(symbol));
}

/** Whether the code that draws is needed. */
export function useHasDrawings(symbol: string): boolean {
  const { data } = useAccountDrawings(symbol);
  const kept = useKeptText(symbol);
  const isOpen = useStore(areToolsOpen);
  return isOpen || kept !== null || (data?.drawings.length ?? 0) > 0;
}
