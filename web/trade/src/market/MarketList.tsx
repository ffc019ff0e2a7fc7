import { ActionIcon, Skeleton, TextInput, Tooltip } from "@mantine/core";
import { SearchIcon, StarFillIcon, StarIcon } from "@primer/octicons-react";
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { placesOf } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { useTickerPushes } from "../api/live.ts";
import { type Market, type Ticker, useMarkets, useTickers } from "../api/queries.ts";
import { explain } from "../api/messages.ts";
import { Change } from "./Change.tsx";
import classes from "./MarketList.module.css";
import { toggleFavourite, useFavourites } from "./preferences.ts";
import { Sparkline } from "./Sparkline.tsx";
import { listedMarkets } from "./states.ts";

/** All markets with their prices: search, favourites first, arrow keys. */
export function MarketList({ current, onChoose }: { current: string; onChoose: () => void }) {
  const markets = useMarkets(true);
  const tickers = useTickers();
  const favourites = useFavourites();
  const [word, setWord] = useState("");
  const [showsFavourites, setShowsFavourites] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const symbols = useMemo(() => (markets.data ?? []).map(({ symbol }) => symbol), [markets.data]);
  useTickerPushes(symbols);
  const bySymbol = new Map((tickers.data ?? []).map((ticker) => [ticker.symbol, ticker]));
  const wanted = word.trim().toUpperCase().replace("/", "-");
  const found = (markets.data ?? [])
    .filter(({ symbol }) => symbol.includes(wanted) && (!showsFavourites || favourites.includes(symbol)))
    .sort(
      (a, b) => rank(favourites, b.symbol) - rank(favourites, a.symbol) || a.symbol.localeCompare(b.symbol),
    );
  const { listed, delisted } = listedMarkets(found, current);
  const entries = (shown: readonly Market[]) =>
    shown.map((market) => (
      <Entry
        key={market.symbol}
        market={market}
        ticker={bySymbol.get(market.symbol)}
        isFavourite={favourites.includes(market.symbol)}
        isCurrent={market.symbol === current}
        onChoose={onChoose}
      />
    ));

  const step = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    const links = [...(list.current?.querySelectorAll("a") ?? [])];
    const at = links.findIndex((link) => link === document.activeElement);
    event.preventDefault();
    links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
  };

  if (markets.error && !markets.data) {
    return <ErrorState problem={explain(markets.error)} onRetry={() => void markets.refetch()} />;
  }
  return (
    <div className={classes.box} onKeyDown={step}>
      <div className={classes.tools}>
        <TextInput
          aria-label={t("Search markets")}
          placeholder={t("Search, such as ETH")}
          leftSection={<SearchIcon />}
          value={word}
          data-autofocus
          className={classes.search}
          onChange={(event) => setWord(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") list.current?.querySelector("a")?.click();
          }}
        />
        <Tooltip label={showsFavourites ? t("Show all markets") : t("Show favourites alone")}>
          <ActionIcon
            variant={showsFavourites ? "light" : "default"}
            size={34}
            aria-label={t("Favourites alone")}
            aria-pressed={showsFavourites}
            onClick={() => setShowsFavourites(!showsFavourites)}
          >
            {showsFavourites ? <StarFillIcon /> : <StarIcon />}
          </ActionIcon>
        </Tooltip>
      </div>
      {!markets.data && <Skeleton height={240} role="progressbar" aria-label={t("Loading the markets")} />}
      {markets.data && listed.length + delisted.length === 0 && (
        <EmptyState
          title={showsFavourites && wanted === "" ? t("No favourites yet") : t("No market matches")}
        >
          {showsFavourites && wanted === ""
            ? t("The star beside a market makes it a favourite.")
            : t("Search by asset, such as BTC, or by pair, such as BTC-USD.")}
        </EmptyState>
      )}
      <div className={classes.list} ref={list}>
        <ul className={classes.entries} aria-label={t("Markets")}>
          {entries(listed)}
        </ul>
        {delisted.length > 0 && (
          <>
            <p className={classes.apart}>{t("Delisted")}</p>
            <ul className={classes.entries} aria-label={t("Delisted")}>
              {entries(delisted)}
            </ul>
          </>
        )}
      </div>
    </div>
  );
}

function rank(favourites: readonly string[], symbol: string): number {
  return favourites.includes(symbol) ? 1 : 0;
}

interface EntryProps {
  market: Market;
  ticker: Ticker | undefined;
  isFavourite: boolean;
  isCurrent: boolean;
  onChoose: () => void;
}

function Entry({ market, ticker, isFavourite, isCurrent, onChoose }: EntryProps) {
  const { symbol, active, status, name } = market;
  return (
    <li className={classes.entry} data-current={isCurrent || undefined}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="md"
        aria-label={t("{symbol} is a favourite", { symbol })}
        aria-pressed={isFavourite}
        onClick={() => toggleFavourite(symbol)}
      >
        {isFavourite ? <StarFillIcon className={classes.star} /> : <StarIcon />}
      </ActionIcon>
      <Link
        href={`/${symbol}`}
        className={classes.link}
        aria-current={isCurrent ? "page" : undefined}
        onClick={onChoose}
      >
        <span className={classes.symbol}>
          {symbol}
          {name !== "" && <span className={classes.note}> {name}</span>}
          {(!active || status === "announced") && (
            <span className={classes.note}> {status === "announced" ? t("not open yet") : t("closed")}</span>
          )}
        </span>
        <Sparkline symbol={symbol} />
        <span className={classes.figures}>
          {ticker?.lastPrice ? <Amount value={ticker.lastPrice} places={placesOf(market.tickSize)} /> : "–"}
          <Change percent={ticker?.priceChangePercent ?? null} />
        </span>
      </Link>
    </li>
  );
}
