import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { TimeText } from "#lib/components/TimeText.tsx";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { type Schemas, useExchange } from "../api/client.ts";
import { type Market, readCandles } from "../api/queries.ts";
import { explain } from "../api/messages.ts";
import classes from "./CandleTable.module.css";

const LIMIT = 100;
const REFRESH_MS = 15_000;

/** The newest candles as figures, for those who cannot see the chart, and for copying. */
export default function CandleTable({ market, interval }: { market: Market; interval: Schemas["Interval"] }) {
  const exchange = useExchange();
  const { symbol } = market;
  const { data, error, refetch } = useQuery({
    queryKey: ["candles", symbol, interval, "figures"],
    queryFn: () => readCandles(exchange, symbol, interval, {}, LIMIT),
    refetchInterval: REFRESH_MS,
    meta: { isPublic: true },
  });
  const places = placesOf(market.tickSize);
  if (!data && error) return <ErrorState problem={explain(error)} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height="100%" role="progressbar" aria-label={t("Loading the candles")} />;
  if (data.length === 0) {
    return (
      <EmptyState title={t("No candles yet")}>
        {t("The first trade of this market begins the first one.")}
      </EmptyState>
    );
  }
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label={t("Candles, scrollable")}>
      <table
        className={`figures ${classes.table ?? ""}`}
        aria-label={t("Candles of {interval}", { interval })}
      >
        <thead>
          <tr>
            {[
              t("Begin"),
              t("Open"),
              t("High"),
              t("Low"),
              t("Close"),
              t("Volume ({baseAsset})", { baseAsset: market.baseAsset }),
              t("Trades"),
            ].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...data].reverse().map((candle) => (
            <tr key={candle.timestamp}>
              <td>
                <TimeText milliseconds={candle.timestamp} />
              </td>
              {[candle.open, candle.high, candle.low, candle.close].map((price, index) => (
                <td key={index}>{formatDecimal(price, places)}</td>
              ))}
              <td>{formatDecimal(candle.volume)}</td>
              <td>{candle.trades}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
