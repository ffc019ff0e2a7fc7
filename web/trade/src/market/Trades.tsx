import { Skeleton } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { memo, useState } from "react";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import { formatClock, formatUtc } from "#lib/time.ts";
import type { Market } from "../api/queries.ts";
import { explain } from "../api/messages.ts";
import type { MarketTrade, TradesState } from "../stream/feeds.ts";
import { Panel } from "./Panel.tsx";
import classes from "./Trades.module.css";

const ROW_HEIGHT = 20;

/**
 * What was traded last, the newest first; the side is the taker's. Rows below the edge of the panel are drawn once the
 * reader scrolls to them: each new trade moves every row, and most of the time nobody sees those.
 */
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
  const { ref, height } = useElementSize();
  const [isScrolled, setScrolled] = useState(false);
  const shown = isScrolled ? trades : trades?.slice(0, Math.ceil(height / ROW_HEIGHT));
  const below = (trades?.length ?? 0) - (shown?.length ?? 0);
  return (
    <Panel title={t("Trades")}>
      <div ref={ref} className={classes.box}>
        {trades === null && error === null && (
          <Skeleton height="100%" role="progressbar" aria-label={t("Loading the trades")} />
        )}
        {trades === null && error !== null && <ErrorState problem={explain(error)} onRetry={onRetry} />}
        {trades?.length === 0 && (
          <EmptyState title={t("No trades yet")}>
            {t("Each trade of this market appears here at once.")}
          </EmptyState>
        )}
        {shown && trades?.length !== 0 && (
          <div
            className={classes.scroll}
            tabIndex={0}
            role="region"
            aria-label={t("Trades, scrollable")}
            onScroll={(event) => setScrolled(event.currentTarget.scrollTop > 0)}
          >
            <table className={classes.table} aria-label={t("Trades")}>
              <thead>
                <tr>
                  <th scope="col">{rich("Price ({quoteAsset})", { quoteAsset: market.quoteAsset })}</th>
                  <th scope="col">{rich("Amount ({baseAsset})", { baseAsset: market.baseAsset })}</th>
                  <th scope="col">{t("Time")}</th>
                </tr>
              </thead>
              <tbody>
                {/* A row belongs to a place: its text changes, which costs less than rows that come and go. */}
                {shown.map((trade, place) => (
                  <TradeRow
                    key={place}
                    trade={trade}
                    places={places}
                    quantityPlaces={quantityPlaces}
                    zone={zone}
                  />
                ))}
              </tbody>
            </table>
            <div style={{ height: below * ROW_HEIGHT }} />
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
        <span role="img" aria-label={trade.side === "buy" ? t("bought") : t("sold")}>
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
