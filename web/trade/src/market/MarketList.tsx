import { ActionIcon, Skeleton, TextInput, Tooltip } from "@mantine/core";
import { SearchIcon, StarFillIcon, StarIcon } from "@primer/octicons-react";
import { useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { CoinSign } from "#lib/components/CoinSign.tsx";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { placesOf } from "#lib/decimal.ts";
import { several, t } from "#lib/language.ts";
import { FOLLOWED_MAX, useTickerPushes } from "../api/live.ts";
import { type Market, type Ticker, useMarkets, useTickers } from "../api/queries.ts";
import { explain } from "../api/messages.ts";
import { PageLink } from "../parts/PageLink.tsx";
import { Change } from "./Change.tsx";
import classes from "./MarketList.module.css";
import { useFavourites } from "./favourites.ts";
import { isFound } from "./overview.ts";
import { Sparkline } from "./Sparkline.tsx";
import { Star } from "./Star.tsx";
import { listedMarkets } from "./states.ts";
import { stepThroughLinks } from "./stepThroughLinks.ts";
import { useHidden } from "./useHidden.ts";

/** All markets with their prices: search, favourites first, arrow keys. */
export function MarketList({
  current,
  onChoose,
  fills = false,
}: {
  current: string;
  onChoose: () => void;
  /** Whether it fills a panel; otherwise it is as large as its entries. */
  fills?: boolean;
}) {
  const markets = useMarkets(true);
  const tickers = useTickers();
  const [word, setWord] = useState("");
  const [showsFavourites, setShowsFavourites] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const symbols = useMemo(() => markets.data?.map(({ symbol }) => symbol), [markets.data]);
  const { symbols: favourites, toggle } = useFavourites(symbols);
  useTickerPushes(symbols?.slice(0, FOLLOWED_MAX) ?? []);
  const bySymbol = new Map((tickers.data ?? []).map((ticker) => [ticker.symbol, ticker]));
  const wanted = word.trim();
  const found = (markets.data ?? [])
    .filter((market) => isFound(market, wanted) && (!showsFavourites || favourites.includes(market.symbol)))
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
        onToggle={toggle}
        onChoose={onChoose}
      />
    ));

  const hidden = useHidden(list, found.length);

  if (markets.error && !markets.data) {
    return <ErrorState problem={explain(markets.error)} onRetry={() => void markets.refetch()} />;
  }
  return (
    <div
      className={classes.box}
      data-fills={fills || undefined}
      onKeyDown={(event) => stepThroughLinks(event, list.current)}
    >
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
      <div className={classes.list} ref={list} data-more={hidden > 0 || undefined}>
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
      <p className={classes.foot}>
        <span>{hidden > 0 && several(hidden, "{count} more below", "{count} more below")}</span>
        <PageLink href="/markets" onClick={onChoose}>
          {t("All markets")}
        </PageLink>
      </p>
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
  onToggle: (symbol: string) => void;
  onChoose: () => void;
}

function Entry({ market, ticker, isFavourite, isCurrent, onToggle, onChoose }: EntryProps) {
  const { symbol, active, status, name, logo } = market;
  return (
    <li className={classes.entry} data-current={isCurrent || undefined}>
      <Star symbol={symbol} isFavourite={isFavourite} onToggle={onToggle} />
      <Link
        href={`/${symbol}`}
        className={classes.link}
        data-market
        aria-current={isCurrent ? "page" : undefined}
        onClick={onChoose}
      >
        <span className={classes.symbol}>
          <CoinSign asset={symbol} logo={logo} /> {symbol}
          {name !== "" && <span className={classes.note}> {name}</span>}
          {(!active || status === "announced") && (
            <span className={classes.note}> {status === "announced" ? t("not open yet") : t("closed")}</span>
          )}
        </span>
        <Sparkline symbol={symbol} change={ticker?.priceChangePercent ?? null} />
        <span className={classes.figures}>
          {ticker?.lastPrice ? <Amount value={ticker.lastPrice} places={placesOf(market.tickSize)} /> : "–"}
          <Change percent={ticker?.priceChangePercent ?? null} />
        </span>
      </Link>
    </li>
  );
}
