import { Skeleton } from "@mantine/core";
import { memo } from "react";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { useZone } from "#lib/preferences.ts";
import { formatClock, formatUtc } from "#lib/time.ts";
import type { Market } from "../api/queries.ts";
import { explain } from "../messages.ts";
import type { MarketTrade, TradesState } from "../stream/feeds.ts";
import { Panel } from "./Panel.tsx";
import classes from "./Trades.module.css";

/** What was traded last, the newest first; the side is the taker's. */
export const Trades = memo(function Trades({
  market,
  state,
  onRetry,
}: {
  market: Market;
  state: TradesState;
  onRetry: () => void;
}) {
  const zone = useZone();
  const places = placesOf(market.tickSize);
  const quantityPlaces = placesOf(market.lotSize);
  const { trades, error } = state;
  return (
    <Panel title="Trades">
      <div className={classes.box}>
        {trades === null && error === null && <Skeleton height="100%" aria-label="Loading the trades" />}
        {trades === null && error !== null && <ErrorState problem={explain(error)} onRetry={onRetry} />}
        {trades?.length === 0 && (
          <EmptyState title="No trades yet">Each trade of this market appears here at once.</EmptyState>
        )}
        {trades && trades.length > 0 && (
          <div className={classes.scroll} tabIndex={0} role="region" aria-label="Trades, scrollable">
            <table className={classes.table} aria-label="Trades">
              <thead>
                <tr>
                  <th scope="col">Price ({market.quoteAsset})</th>
                  <th scope="col">Amount ({market.baseAsset})</th>
                  <th scope="col">Time</th>
                </tr>
              </thead>
              <tbody>
                {trades.map((trade) => (
                  <TradeRow
                    key={trade.sequence}
                    trade={trade}
                    places={places}
                    quantityPlaces={quantityPlaces}
                    zone={zone}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </Panel>
  );
});

const TradeRow = memo(function TradeRow({
  trade,
  places,
  quantityPlaces,
  zone,
}: {
  trade: MarketTrade;
  places: number;
  quantityPlaces: number;
  zone: string;
}) {
  return (
    <tr className="figures" data-side={trade.side}>
      <td className={classes.price}>
        <span role="img" aria-label={trade.side === "buy" ? "bought" : "sold"}>
          {trade.side === "buy" ? "▲" : "▼"}
        </span>{" "}
        {formatDecimal(trade.price, places)}
      </td>
      <td>{formatDecimal(trade.quantity, quantityPlaces)}</td>
      <td title={formatUtc(trade.timestamp)} className={classes.time}>
        {formatClock(trade.timestamp, zone)}
      </td>
    </tr>
  );
});
