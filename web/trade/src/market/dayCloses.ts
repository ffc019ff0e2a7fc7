/** Closing prices for the small charts of lists of markets. */
import { useQuery } from "@tanstack/react-query";
import { useExchange } from "../api/client.ts";
import { readCandles } from "../api/queries.ts";

const SMALL_CHART_PAUSE_MS = 300;
const STALE_MS = 60_000;

let smallCharts: Promise<unknown> = Promise.resolve();

/** Waits for the turn of a small chart. All of them at once would exceed the edge's limit of requests a second. */
function smallChartTurn(): Promise<unknown> {
  const turn = smallCharts;
  smallCharts = turn.then(() => new Promise((done) => setTimeout(done, SMALL_CHART_PAUSE_MS)));
  return turn;
}

/** Closing prices of the last day, for small charts. */
export function useDayCloses(symbol: string, isWanted: boolean) {
  const exchange = useExchange();
  return useQuery({
    queryKey: ["candles", symbol, "day"],
    queryFn: async () => {
      await smallChartTurn();
      return readCandles(exchange, symbol, "1h", {}, 24);
    },
    enabled: isWanted,
    staleTime: STALE_MS,
    meta: { isPublic: true },
  });
}
