import { Button, Popover } from "@mantine/core";
import { ChevronDownIcon } from "@primer/octicons-react";
import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { brandName } from "#lib/brand.ts";
import { Amount } from "#lib/components/Amount.tsx";
import { CoinSign } from "#lib/components/CoinSign.tsx";
import { late } from "#lib/components/late.tsx";
import { compareDecimals, formatDecimal, placesOf } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import type { Market, Ticker } from "../api/queries.ts";
import { Change } from "./Change.tsx";
import classes from "./MarketHeader.module.css";

/** Loaded when it is opened. */
const MarketPhase = late(() => import("./MarketPhase.tsx"));
const MarketList = late(() => import("./MarketList.tsx").then((loaded) => ({ default: loaded.MarketList })));

/** The market's name, which opens the list of all, and its figures of the last 24 hours. */
export const MarketHeader = memo(function MarketHeader({
  symbol,
  market,
  ticker,
  isOpen,
  onOpen,
  tools,
}: {
  symbol: string;
  market: Market | undefined;
  ticker: Ticker | undefined;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  /** Stands at the end. */
  tools?: ReactNode;
}) {
  const places = market ? placesOf(market.tickSize) : 0;
  const direction = useDirection(ticker?.lastPrice ?? null);
  useEffect(() => {
    const price = ticker?.lastPrice ? `${formatDecimal(ticker.lastPrice, places)} · ` : "";
    document.title = `${price}${symbol} · ${brandName()}`;
  }, [symbol, places, ticker?.lastPrice]);
  const figures: [string, string | null | undefined, string | undefined, number][] = [
    [t("24 h high"), ticker?.highPrice, undefined, places],
    [t("24 h low"), ticker?.lowPrice, undefined, places],
    [t("24 h volume"), ticker?.volume, market?.baseAsset, 0],
    [t("24 h turnover"), ticker?.quoteVolume, market?.quoteAsset, 0],
  ];
  return (
    <header className={classes.header}>
      <Chooser symbol={symbol} logo={market?.logo ?? ""} isOpen={isOpen} onOpen={onOpen} />
      <h1 className={classes.heading}>{symbol}</h1>
      {market?.name && <span className={classes.name}>{market.name}</span>}
      <div className={classes.price}>
        <span className={classes.last} data-direction={direction}>
          {ticker?.lastPrice ? (
            <>
              <span aria-hidden>{direction > 0 ? "▲" : direction < 0 ? "▼" : ""}</span>
              <Amount value={ticker.lastPrice} places={places} />
            </>
          ) : (
            "–"
          )}
        </span>
        <Change percent={ticker?.priceChangePercent ?? null} />
      </div>
      {ticker?.phase && <MarketPhase ticker={ticker} places={places} unit={market?.baseAsset} />}
      <dl className={classes.figures}>
        {figures.map(([name, value, unit, digits]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ? <Amount value={shortened(value, digits)} unit={unit} places={digits} /> : "–"}</dd>
          </div>
        ))}
      </dl>
      {tools}
    </header>
  );
});

/** Opens the list of all markets. Apart from the figures, which change ten times a second. */
const Chooser = memo(function Chooser({
  symbol,
  logo,
  isOpen,
  onOpen,
}: {
  symbol: string;
  /** That of the base asset. */
  logo: string;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
}) {
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    // The focus goes into the list, which has to be there by then.
    if (isOpen) void MarketList.loadAhead().then(() => setLoaded(true));
  }, [isOpen]);
  return (
    <Popover
      opened={isOpen && isLoaded}
      onChange={onOpen}
      position="bottom-start"
      shadow="md"
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          size="md"
          className={classes.chooser}
          leftSection={<CoinSign asset={symbol} logo={logo} />}
          rightSection={<ChevronDownIcon />}
          aria-label={t("Market {symbol}, choose another", { symbol })}
          onClick={() => onOpen(!isOpen)}
        >
          {symbol}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("Markets")}>
        <MarketList current={symbol} onChoose={() => onOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
});

/** A day's volume with about five digits: more would only flicker. Prices keep all of theirs. */
function shortened(value: string, digits: number): string {
  const [whole = "", fraction] = value.split(".");
  if (digits > 0 || fraction === undefined) return value;
  const kept = fraction.slice(0, whole === "0" ? 5 : Math.max(0, 5 - whole.length));
  return kept === "" ? whole : `${whole}.${kept}`;
}

/** 1 if the last price rose last, −1 if it fell. */
function useDirection(price: string | null): number {
  const before = useRef<string | null>(null);
  const [direction, setDirection] = useState(0);
  useEffect(() => {
    if (price !== null && before.current !== null && price !== before.current) {
      setDirection(compareDecimals(price, before.current));
    }
    before.current = price;
  }, [price]);
  return direction;
}
