import { Button, SegmentedControl, Skeleton } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useCallback, useEffect, useMemo, useState } from "react";
import { ErrorState } from "#lib/components/states.tsx";
import { late, MissingDialog } from "#lib/components/late.tsx";
import { t, texts } from "#lib/language.ts";
import { useShortcuts } from "#lib/shortcuts.ts";
import { type Schemas, useExchange } from "../api/client.ts";
import { useFeed, useStream, useTickerPushes } from "../api/live.ts";
import {
  readTrades,
  useBalances,
  useFills,
  useMarkets,
  useOpenOrders,
  useTickers,
  useTradingRules,
} from "../api/queries.ts";
import { hasLimit } from "../api/orderKinds.ts";
import { useSession } from "../api/session.ts";
import { EditButton } from "../layout/EditButton.tsx";
import { template } from "../layout/model.ts";
import { Places } from "../layout/Places.tsx";
import { useLayout } from "../layout/useLayout.ts";
import { AllPositions, MarginBalances, MarginPositions } from "../margin/lateLists.ts";
import { useMode } from "../margin/mode.ts";
import { TradeForm } from "../margin/TradeForm.tsx";
import { ChartPanel } from "../market/ChartPanel.tsx";
import { MarketHeader } from "../market/MarketHeader.tsx";
import { OrderBook } from "../market/OrderBook.tsx";
import { Panel } from "../market/Panel.tsx";
import { isClosed } from "../market/states.ts";
import { tickerAt } from "../market/lastPrice.ts";
import { type Level, NOTHING, type Own, type Proposal, type Trigger, withTriggers } from "../market/own.ts";
import { keepSymbol } from "../market/preferences.ts";
import { Trades } from "../market/Trades.tsx";
import { explain } from "../api/messages.ts";
import { OrdersPanel } from "../orders/OrdersPanel.tsx";
import type { ShownOrders } from "../orders/OrderTabs.tsx";
import { type Draft, EMPTY_DRAFT } from "../orders/draft.ts";
import { followBook, followTrades, TRADES_SHOWN } from "../stream/feeds.ts";
import classes from "./TradePage.module.css";

const FormSheet = late(() => import("./FormSheet.tsx"), { Missing: MissingDialog });
const AverageCost = late(() => import("../positions/AverageCost.tsx"), { Missing: MissingDialog });
const MarginLevels = late(() => import("../margin/MarginLevels.tsx"), { Missing: MissingDialog });
const MarketState = late(() => import("../market/MarketState.tsx"));
const Proposed = late(() => import("../orders/Proposed.tsx"), { Missing: MissingDialog });
const Triggers = late(() => import("../orders/Triggers.tsx"), { Missing: MissingDialog });
const EditBar = late(() => import("../layout/EditBar.tsx"));

const NO_BOOK = { book: null, isCurrent: false, resyncs: 0 };
const NO_ORDERS: readonly Schemas["OrderRecord"][] = [];
const NO_FILLS: readonly Schemas["OwnTrade"][] = [];
const NO_TRADES = { trades: null, error: null };
const VIEWS = texts([
  ["chart", "Chart"],
  ["book", "Book"],
  ["trades", "Trades"],
] as const);
const PHONE = "(max-width: 48em)";

/** The trading screen of one market. */
export default function TradePage({ symbol }: { symbol: string }) {
  const markets = useMarkets();
  const market = markets.data?.find((known) => known.symbol === symbol);
  useEffect(() => {
    if (market) keepSymbol(symbol);
  }, [market, symbol]);
  if (markets.error && !markets.data) {
    return <ErrorState problem={explain(markets.error)} onRetry={() => void markets.refetch()} />;
  }
  if (markets.data && !market) {
    const problem = {
      title: t("There is no market {symbol}", { symbol }),
      detail: t("The exchange does not list it."),
      advice: t("Choose one of the list of markets: it opens at the market's name."),
    };
    return (
      <div className={classes.missing}>
        <MarketHeaderAlone symbol={symbol} />
        <ErrorState problem={problem} />
      </div>
    );
  }
  if (!market) return <Skeleton height="60vh" role="progressbar" aria-label={t("Loading the market")} />;
  return <Screen key={symbol} symbol={symbol} />;
}

function MarketHeaderAlone({ symbol }: { symbol: string }) {
  const [isOpen, setOpen] = useState(false);
  // A market that was listed a moment ago opens as soon as the exchange tells of it.
  useMarkets(true);
  return (
    <MarketHeader symbol={symbol} market={undefined} ticker={undefined} isOpen={isOpen} onOpen={setOpen} />
  );
}

/** Book and trades change ten times a second each, so its parts are drawn again only when their own data change. */
function Screen({ symbol }: { symbol: string }) {
  const exchange = useExchange();
  const stream = useStream();
  const { session } = useSession();
  const isPhone = useMediaQuery(PHONE, false, { getInitialValueInEffect: false });
  const layout = useLayout();
  const { isEditing, begin, finish } = layout;
  const editButton = useMemo(
    () => <EditButton isEditing={isEditing} onToggle={isEditing ? finish : begin} />,
    [isEditing, begin, finish],
  );
  const [view, setView] = useState("chart");
  // What a window shows stays when it gets the width of a phone, or loses it.
  const [chartView, setChartView] = useState("candles");
  const [shownOrders, setShownOrders] = useState<ShownOrders>({ tab: "open", scope: "all" });
  const [listIsOpen, setListOpen] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [draft, setDraft] = useState<Draft>(EMPTY_DRAFT);
  const { data: markets = [] } = useMarkets();
  const { data: tickers = [] } = useTickers();
  const { data: balances } = useBalances();
  const { data: open } = useOpenOrders(symbol);
  const { data: fillPages } = useFills(symbol);
  useTickerPushes([symbol]);
  const book = useFeed(() => followBook(stream, symbol), symbol, NO_BOOK);
  const trades = useFeed(
    () => followTrades(stream, symbol, () => readTrades(exchange, symbol, TRADES_SHOWN)),
    `${symbol} ${attempt}`,
    NO_TRADES,
  );
  const change = useCallback(
    (changes: Partial<Draft>) =>
      setDraft((before) => {
        // The field of the date begins anew with another type.
        const isOther = changes.type !== undefined && changes.type !== before.type;
        return {
          ...before,
          ...(isOther ? { expiresAt: "" } : {}),
          ...(changes.type === undefined ? {} : { isOco: false }),
          ...changes,
        };
      }),
    [],
  );
  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  const choosePrice = useCallback(
    (price: string) =>
      setDraft((before) => ({ ...before, price, type: hasLimit(before.type) ? before.type : "limit" })),
    [],
  );
  /** Whether a phone shows the order form. */
  const [hasSheet, setSheet] = useState(false);
  const closeSheet = useCallback(() => setSheet(false), []);
  const openForm = (side: Draft["side"]) => {
    change({ side });
    setSheet(true);
  };
  /** The keyboard goes on from the choice: it is twenty steps away otherwise. */
  const choose = (value: string, changes: Partial<Draft>) => {
    change(changes);
    document.querySelector<HTMLElement>(`form [value=${value}]`)?.focus();
  };
  useShortcuts([
    { keys: "/", title: t("Choose a market"), run: () => setListOpen(true) },
    { keys: "b", title: t("Buy"), run: () => choose("buy", { side: "buy" }) },
    { keys: "s", title: t("Sell"), run: () => choose("sell", { side: "sell" }) },
    { keys: "l", title: t("Limit order"), run: () => choose("limit", { type: "limit" }) },
    { keys: "m", title: t("Market order"), run: () => choose("market", { type: "market" }) },
  ]);
  const orders = session && open ? open.orders : NO_ORDERS;
  const fills = useMemo(
    () => (session && fillPages ? fillPages.pages.flatMap(({ rows }) => rows) : NO_FILLS),
    [session, fillPages],
  );
  const last = trades.trades?.[0];
  const known = tickers.find((one) => one.symbol === symbol);
  const ticker = useMemo(() => tickerAt(known, last), [known, last]);
  const { data: rules } = useTradingRules();
  const canAmend = session !== null && rules?.rules === "complete";
  const [proposal, setProposal] = useState<Proposal | null>(null);
  const [levels, setLevels] = useState<readonly Level[]>(NOTHING.levels);
  const market = markets.find((one) => one.symbol === symbol);
  const mode = useMode(market);
  const [averageCost, setAverageCost] = useState<string | null>(null);
  const [triggers, setTriggers] = useState<readonly Trigger[]>([]);
  const own: Own = useMemo(
    () => ({
      orders: withTriggers(orders, triggers),
      fills,
      averageCost,
      levels,
      proposal,
      onPropose: canAmend ? setProposal : null,
    }),
    [orders, triggers, fills, averageCost, levels, proposal, canAmend],
  );
  if (!market) return null;
  const closed = isClosed(market);
  const state = <MarketState market={market} />;
  const parts = {
    chart: (
      <ChartPanel market={market} book={book} last={last} own={own} view={chartView} onView={setChartView} />
    ),
    book: (
      <OrderBook
        market={market}
        state={book}
        lastPrice={ticker?.lastPrice ?? null}
        ownOrders={orders}
        onPrice={choosePrice}
      />
    ),
    trades: <Trades market={market} state={trades} onRetry={retry} />,
    form: closed ? (
      <Panel title={t("Order")}>{state}</Panel>
    ) : (
      <TradeForm
        market={market}
        ticker={ticker}
        state={book}
        balances={session ? balances : undefined}
        draft={draft}
        onDraft={change}
        onPlaced={closeSheet}
      />
    ),
    orders: (
      <OrdersPanel
        symbol={symbol}
        shown={shownOrders}
        onShown={setShownOrders}
        Positions={mode === "margin" ? MarginPositions : AllPositions}
        MarginBalances={mode === "margin" ? MarginBalances : undefined}
      />
    ),
  };
  const ownLayout = isPhone ? null : layout.layout;
  return (
    <div
      className={classes.screen}
      {...(ownLayout ? { "data-own": true, style: { gridTemplate: template(ownLayout) } } : {})}
    >
      {session && mode === "margin" && <MarginLevels symbol={symbol} onLevels={setLevels} />}
      {/* The margin account has lines of its own: what the wallet holds is not its. */}
      {session && mode === "spot" && exchange.positions && (
        <AverageCost
          positions={exchange.positions}
          userId={session.userId}
          market={market}
          onCost={setAverageCost}
        />
      )}
      {orders.some(({ type }) => type.startsWith("trailing")) && (
        <Triggers orders={orders} onTriggers={setTriggers} />
      )}
      <div className={classes.market}>
        <MarketHeader
          symbol={symbol}
          market={market}
          ticker={ticker}
          isOpen={listIsOpen}
          onOpen={setListOpen}
          tools={isPhone ? null : editButton}
        />
        {!closed && market.status !== "open" && state}
        {!isPhone && isEditing && <EditBar screen={layout} />}
      </div>
      {isPhone ? (
        <>
          <div className={classes.phone}>
            <SegmentedControl
              fullWidth
              aria-label={t("View")}
              data={VIEWS.map(([value, label]) => ({ value, label: t(label) }))}
              value={view}
              onChange={setView}
            />
            <div className={classes.view}>{parts[view as keyof typeof parts]}</div>
          </div>
          {closed && parts.form}
          {hasSheet && !closed && <FormSheet onClose={closeSheet}>{parts.form}</FormSheet>}
          <div className={classes.orders}>{parts.orders}</div>
        </>
      ) : (
        <Places screen={layout} parts={parts} standard={classes} market={market} book={book} own={own} />
      )}
      {proposal && (
        <Proposed
          key={`${proposal.order.orderId} ${proposal.price}`}
          market={market}
          proposal={proposal}
          lastPrice={ticker?.lastPrice ?? null}
          userId={session?.userId}
          onClose={() => setProposal((now) => (now === proposal ? null : now))}
        />
      )}
      {isPhone && !closed && (
        <div className={classes.sides} role="group" aria-label={t("Open the order form")}>
          {(["buy", "sell"] as const).map((side) => (
            <Button
              key={side}
              className={classes.side}
              data-side={side}
              aria-label={side === "buy" ? t("Open the form to buy") : t("Open the form to sell")}
              onClick={() => openForm(side)}
            >
              {side === "buy" ? t("Buy") : t("Sell")}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}
