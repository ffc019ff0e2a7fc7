import { SegmentedControl, TextInput } from "@mantine/core";
import { SearchIcon } from "@primer/octicons-react";
import { useMemo, useRef } from "react";
import { Link } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { CoinSign } from "#lib/components/CoinSign.tsx";
import { type Column, DataTable, withAreas } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { placesOf } from "#lib/decimal.ts";
import { several, t } from "#lib/language.ts";
import { useShortcuts } from "#lib/shortcuts.ts";
import { arrange, useUrlState } from "#lib/urlState.ts";
import { FOLLOWED_MAX, useTickerPushes } from "../api/live.ts";
import { explainIfAny } from "../api/messages.ts";
import { useAssetPrices } from "../api/assetPrices.ts";
import { useMarkets, useTickers } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { Change } from "../market/Change.tsx";
import { type Favourites, useFavourites, useWatchlists } from "../market/favourites.ts";
import {
  compareChange,
  compareNames,
  comparePrice,
  compareWorth,
  isFound,
  type MarketRow,
  movers,
  quotesOf,
  rowsOf,
} from "../market/overview.ts";
import { Sparkline } from "../market/Sparkline.tsx";
import { Star } from "../market/Star.tsx";
import { stepThroughLinks } from "../market/stepThroughLinks.ts";
import { FAVOURITES, namesOf } from "../market/watchlist.ts";
import { Watchlists } from "../market/Watchlists.tsx";
import { ChoiceField } from "../parts/ChoiceField.tsx";
import { PageLink } from "../parts/PageLink.tsx";
import classes from "./MarketsPage.module.css";

const ALL = "all";
const MOVERS = 3;
/** From here on the digits behind the point say nothing of a turnover. */
const TURNOVER_PLACES = 2;

/** All markets: search, favourites, tabs by quote asset, who moved most; live, and without a session too. */
export default function MarketsPage() {
  const markets = useMarkets(true);
  const tickers = useTickers();
  const prices = useAssetPrices();
  const symbols = useMemo(() => markets.data?.map(({ symbol }) => symbol), [markets.data]);
  const url = useUrlState();
  const { session } = useSession();
  const watchlists = useWatchlists();
  const names = namesOf(watchlists.data);
  const askedList = url.parameter("list");
  // The star stands for the chosen list; one that is gone gives way to the favourites.
  const chosen = session && names.includes(askedList) ? askedList : FAVOURITES;
  const ownList = chosen === FAVOURITES ? undefined : chosen;
  const favourites = useFavourites(symbols, chosen);
  const list = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: "/", title: t("Choose a market"), run: () => search.current?.focus() }]);

  const rows = markets.data && rowsOf(markets.data, tickers.data ?? [], prices.data ?? []);
  // That nothing moved is said only of markets whose figures are known.
  const withFigures = tickers.data && rows;
  const quotes = quotesOf(rows ?? []);
  const asked = url.parameter("show");
  const shown = asked === FAVOURITES || quotes.includes(asked) ? asked : ALL;
  const word = url.parameter("find");
  const found = rows?.filter(
    ({ market }) =>
      isFound(market, word) &&
      (shown === ALL ||
        (shown === FAVOURITES ? favourites.symbols.includes(market.symbol) : market.quoteAsset === shown)),
  );
  const columns = columnsOf(favourites, ownList);
  const compare = columns.find(({ id }) => id === url.sort?.column)?.compare;
  const listed =
    found && arrange(found, compare, url.sort?.descending ?? false, { index: 0, size: found.length });
  const traded = withFigures?.filter(({ worth }) => worth);
  // The movers are of all markets, so all are followed; the rest of very many is read every half minute.
  useTickerPushes(symbols?.slice(0, FOLLOWED_MAX) ?? []);

  return (
    <div className={classes.page} ref={list} onKeyDown={(event) => stepThroughLinks(event, list.current)}>
      <PageHeader title={t("Markets")}>
        {t("What can be traded here, with the figures of the last 24 hours.")}
      </PageHeader>
      {/* Without a trade there is nothing in it that the keyboard could scroll to on a phone. */}
      {traded?.length !== 0 && (
        <div className={classes.movers}>
          <Movers title={t("Gainers")} rows={withFigures && movers(withFigures, 1, MOVERS)} />
          <Movers title={t("Losers")} rows={withFigures && movers(withFigures, -1, MOVERS)} />
          <Movers title={t("Most traded")} rows={traded?.slice(0, MOVERS)} />
        </div>
      )}
      <Card flush>
        <DataTable
          label={t("Markets")}
          toolbar={
            <div className={classes.tools}>
              <TextInput
                ref={search}
                aria-label={t("Search markets")}
                placeholder={t("Search, such as ETH")}
                leftSection={<SearchIcon />}
                value={word}
                onChange={({ currentTarget }) => url.change({ find: currentTarget.value })}
                onKeyDown={({ key }) => {
                  if (key === "Enter") list.current?.querySelector<HTMLElement>("a[data-market]")?.click();
                }}
              />
              <div className={classes.tabs}>
                <SegmentedControl
                  size="xs"
                  aria-label={t("Markets to show")}
                  data={[
                    { value: ALL, label: t("All") },
                    { value: FAVOURITES, label: `★ ${ownList ?? t("Favourites")}` },
                    ...quotes,
                  ]}
                  value={shown}
                  onChange={(value) => url.change({ show: value === ALL ? null : value })}
                />
              </div>
              {session && watchlists.data && (
                <Watchlists
                  names={names}
                  chosen={chosen}
                  onChosen={(name) =>
                    url.change({ show: FAVOURITES, list: name === FAVOURITES ? null : name })
                  }
                />
              )}
              <div className={classes.order}>
                <ChoiceField
                  size="xs"
                  aria-label={t("Sort by")}
                  choices={ORDERS.map(({ value, label }) => ({ value, label }))}
                  value={sortText(url.sort)}
                  onChoice={(value) => url.change({ sort: value })}
                />
              </div>
            </div>
          }
          columns={withAreas(columns, AREAS)}
          card={CARD}
          rows={listed}
          rowId={({ market }) => market.symbol}
          rowName={({ market }) => market.symbol}
          sort={url.sort}
          onSort={url.toggleSort}
          state={markets}
          problem={explainIfAny(markets.error ?? tickers.error)}
          isWhole
          empty={<Nothing isFavourites={shown === FAVOURITES && word.trim() === ""} list={ownList} />}
          footer={
            listed && (
              <p className={classes.count} role="status">
                {several(listed.length, "{count} market", "{count} markets")}
              </p>
            )
          }
        />
      </Card>
    </div>
  );
}

/** A market on a phone, in two lines; high and low are on its own page. */
const CARD = '"name day price" "turnover turnover change" / minmax(0, 1fr) auto minmax(96px, auto)';
const AREAS = {
  name: { name: "name" },
  price: { name: "price", align: "right" },
  change: { name: "change", align: "right" },
  turnover: { name: "turnover", isTitled: true },
  day: { name: "day", align: "right" },
} as const;

/** The orders that a phone offers, which shows no heads to click on. */
const ORDERS = [
  {
    value: "",
    get label() {
      return t("Largest turnover first");
    },
  },
  {
    value: "-change",
    get label() {
      return t("Gainers first");
    },
  },
  {
    value: "change",
    get label() {
      return t("Losers first");
    },
  },
  {
    value: "-price",
    get label() {
      return t("Highest price first");
    },
  },
  {
    value: "name",
    get label() {
      return t("By name");
    },
  },
] as const;

function sortText(sort: { column: string; descending: boolean } | null): string {
  const text = sort === null ? "" : `${sort.descending ? "-" : ""}${sort.column}`;
  return ORDERS.some(({ value }) => value === text) ? text : "";
}

function columnsOf({ symbols, toggle }: Favourites, list: string | undefined): Column<MarketRow>[] {
  return [
    {
      id: "name",
      title: t("Market"),
      cell: ({ market: { symbol, name, logo } }) => (
        <span className={classes.market}>
          <Star symbol={symbol} isFavourite={symbols.includes(symbol)} list={list} onToggle={toggle} />
          <CoinSign asset={symbol} logo={logo} />
          <Link href={`/${symbol}`} className={classes.symbol} data-market>
            {symbol}
          </Link>
          {name !== "" && <span className={classes.name}>{name}</span>}
        </span>
      ),
      compare: compareNames,
    },
    {
      id: "price",
      title: t("Price"),
      align: "right",
      cell: ({ market, ticker }) => (
        <Price value={ticker?.lastPrice} places={placesOf(market.tickSize)} unit={market.quoteAsset} />
      ),
      compare: comparePrice,
    },
    {
      id: "change",
      title: t("Change, 24 h"),
      align: "right",
      cell: ({ ticker }) => <Change percent={ticker?.priceChangePercent ?? null} />,
      compare: compareChange,
    },
    {
      id: "high",
      title: t("24 h high"),
      align: "right",
      cell: ({ market, ticker }) => <Price value={ticker?.highPrice} places={placesOf(market.tickSize)} />,
    },
    {
      id: "low",
      title: t("24 h low"),
      align: "right",
      cell: ({ market, ticker }) => <Price value={ticker?.lowPrice} places={placesOf(market.tickSize)} />,
    },
    {
      id: "turnover",
      title: t("24 h turnover"),
      align: "right",
      cell: ({ market, ticker }) =>
        ticker ? (
          <Amount value={ticker.quoteVolume} unit={market.quoteAsset} placesMax={TURNOVER_PLACES} />
        ) : (
          "–"
        ),
      compare: compareWorth,
    },
    {
      id: "day",
      title: t("Last day"),
      align: "right",
      cell: ({ market, ticker }) => (
        <Sparkline symbol={market.symbol} change={ticker?.priceChangePercent ?? null} />
      ),
    },
  ];
}

function Price({ value, places, unit }: { value: string | null | undefined; places: number; unit?: string }) {
  return value ? <Amount value={value} places={places} unit={unit} /> : "–";
}

function Movers({ title, rows }: { title: string; rows: readonly MarketRow[] | undefined }) {
  return (
    <Card title={title}>
      {rows === undefined || rows.length === 0 ? (
        <p className={classes.none}>{rows ? t("None in the last 24 hours.") : "–"}</p>
      ) : (
        <ul className={classes.list} aria-label={title}>
          {rows.map(({ market, ticker }) => (
            <li key={market.symbol}>
              <PageLink href={`/${market.symbol}`}>{market.symbol}</PageLink>
              <Price value={ticker?.lastPrice} places={placesOf(market.tickSize)} />
              <Change percent={ticker?.priceChangePercent ?? null} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Nothing({ isFavourites, list }: { isFavourites: boolean; list: string | undefined }) {
  if (isFavourites && list !== undefined)
    return (
      <EmptyState title={t("Nothing in this list yet")}>
        {t("The star beside a market adds it to the list.")}
      </EmptyState>
    );
  return (
    <EmptyState title={isFavourites ? t("No favourites yet") : t("No market matches")}>
      {isFavourites
        ? t("The star beside a market makes it a favourite.")
        : t("Search by asset, such as BTC, or by pair, such as BTC-USD.")}
    </EmptyState>
  );
}
