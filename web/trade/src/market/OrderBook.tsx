import { Skeleton } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, memo, useMemo, useState } from "react";
import { EmptyState } from "#lib/components/states.tsx";
import { cutDecimal, formatDecimal, placesOf } from "#lib/decimal.ts";
import { late, MissingSign } from "#lib/components/late.tsx";
import { rich, t } from "#lib/language.ts";
import { ONE, scaledText, shareOfScaled, toScaled } from "#lib/scaled.ts";
import { useLink } from "../api/live.ts";
import type { Market, Order } from "../api/queries.ts";
import { type Book, groupingSteps, groupLevels, type Row, type Side } from "../stream/book.ts";
import { ChoiceField } from "../parts/ChoiceField.tsx";
import type { BookState } from "../stream/feeds.ts";
import { BookMenu } from "./BookMenu.tsx";
import { useBookView } from "./bookView.ts";
import classes from "./OrderBook.module.css";
import { Panel } from "./Panel.tsx";

const ROW_HEIGHT = 20;
const ROWS_MAX = 40;
const MIDDLE_HEIGHT = 34;
const SHARE_HEIGHT = 26;

/** What is not seen at first is loaded after it. */
const BookShare = late(() => import("./BookShare.tsx"), {
  waiting: () => <div className={classes.share} />,
  Missing: MissingSign,
});

interface OrderBookProps {
  market: Market;
  state: BookState;
  lastPrice: string | null;
  ownOrders: readonly Order[];
  /** A price was chosen: it goes into the order form. */
  onPrice: (price: string) => void;
}

/** The book with depth bars: as many rows as fit, asks above, bids below, the spread between them. */
export const OrderBook = memo(function OrderBook({
  market,
  state,
  lastPrice,
  ownOrders,
  onPrice,
}: OrderBookProps) {
  const [step, setStep] = useState<string | null>(null);
  const tick = toScaled(market.tickSize);
  const known = groupingSteps(tick, lastPrice === null ? null : toScaled(lastPrice)).map(scaledText);
  const chosen = step !== null && known.includes(step) ? step : (known[0] ?? market.tickSize);
  return (
    <Panel
      title={t("Order book")}
      tools={
        <div className={classes.tools}>
          <Grouping steps={known.join(" ")} chosen={chosen} onChoose={setStep} />
          <BookMenu baseAsset={market.baseAsset} quoteAsset={market.quoteAsset} />
        </div>
      }
    >
      <Sides market={market} state={state} step={chosen} ownOrders={ownOrders} onPrice={onPrice} />
    </Panel>
  );
});

/** The steps come as one text, which stays the same while the price changes a little. */
const Grouping = memo(function Grouping({
  steps,
  chosen,
  onChoose,
}: {
  steps: string;
  chosen: string;
  onChoose: (step: string) => void;
}) {
  const longest = Math.max(...steps.split(" ").map((step) => formatDecimal(step).length));
  return (
    <ChoiceField
      size="xs"
      // As wide as the longest step: micro-prices have many places.
      w={Math.max(104, longest * 8 + 44)}
      aria-label={t("Group prices by")}
      choices={steps.split(" ").map((value) => ({ value, label: formatDecimal(value) }))}
      value={chosen}
      onChoice={onChoose}
    />
  );
});

function Sides({
  market,
  state,
  step,
  ownOrders,
  onPrice,
}: {
  market: Market;
  state: BookState;
  step: string;
  ownOrders: readonly Order[];
  onPrice: (price: string) => void;
}) {
  const { ref, height } = useElementSize();
  const link = useLink();
  const { book, isCurrent } = state;
  const { sides, inQuote } = useBookView();
  const isBoth = sides === "both";
  const room = (height - MIDDLE_HEIGHT - (isBoth ? SHARE_HEIGHT : 0)) / ROW_HEIGHT;
  const count = Math.min(ROWS_MAX, Math.max(3, Math.floor(isBoth ? room / 2 : room)));
  const scaledStep = toScaled(step);
  const rowsOf = (side: Side) =>
    book && (isBoth || sides === side) ? groupLevels(book[side], side, scaledStep, count, inQuote) : [];
  const [asks, bids] = [rowsOf("asks"), rowsOf("bids")];
  const deepest = [asks.at(-1)?.total ?? 0n, bids.at(-1)?.total ?? 0n].reduce((a, b) => (b > a ? b : a));
  const places = Math.max(placesOf(step), 0);
  const quantityPlaces = placesOf(market.lotSize);
  const own = useMemo(() => ownPrices(ownOrders, scaledStep), [ownOrders, scaledStep]);
  const shared = { places, quantityPlaces, inQuote, deepest, onPrice };
  return (
    <div className={classes.book} data-old={(book !== null && !isCurrent) || undefined}>
      <div className={classes.heads} aria-hidden>
        <span>{rich("Price ({quoteAsset})", { quoteAsset: market.quoteAsset })}</span>
        <span>{rich("Amount ({baseAsset})", { baseAsset: market.baseAsset })}</span>
        <span>{inQuote ? rich("Total ({asset})", { asset: market.quoteAsset }) : t("Total")}</span>
      </div>
      <div ref={ref} className={classes.sides}>
        {!book && link.state !== "broken" && (
          <Skeleton height="100%" role="progressbar" aria-label={t("Loading the order book")} />
        )}
        {!book && link.state === "broken" && (
          <EmptyState title={t("Waiting for the exchange")}>
            {t("There is no connection. The book comes as soon as there is one.")}
          </EmptyState>
        )}
        {book?.asks.length === 0 && book.bids.length === 0 ? (
          <EmptyState title={t("The book is empty")}>
            {t("Nobody has an order here. Yours would be the first.")}
          </EmptyState>
        ) : (
          book && (
            <>
              {sides !== "bids" && <SideRows side="asks" rows={asks} own={own.asks} {...shared} />}
              <Spread book={book} market={market} isCurrent={isCurrent} />
              {sides !== "asks" && <SideRows side="bids" rows={bids} own={own.bids} {...shared} />}
              {isBoth && <BookShare bids={bids.at(-1)?.total ?? 0n} asks={asks.at(-1)?.total ?? 0n} />}
            </>
          )
        )}
      </div>
    </div>
  );
}

interface SideRowsProps {
  side: Side;
  rows: readonly Row[];
  own: ReadonlySet<bigint>;
  places: number;
  quantityPlaces: number;
  inQuote: boolean;
  deepest: bigint;
  onPrice: (price: string) => void;
}

function SideRows({ side, rows, own, places, quantityPlaces, inQuote, deepest, onPrice }: SideRowsProps) {
  return (
    <ul
      className={classes.side}
      data-side={side}
      aria-label={side === "asks" ? t("Asks") : t("Bids")}
      onKeyDown={(event) => step(event, side)}
    >
      {rows.map((row, index) => (
        <li key={row.price}>
          <BookRow
            side={side}
            price={row.price}
            quantity={row.quantity}
            total={row.total}
            share={shareOfScaled(row.total, deepest)}
            isOwn={own.has(row.scaledPrice)}
            places={places}
            quantityPlaces={quantityPlaces}
            inQuote={inQuote}
            isBest={index === 0}
            onPrice={onPrice}
          />
        </li>
      ))}
    </ul>
  );
}

/** Tab stops at the best price of a side alone, or forty rows would stand before the order form. Arrows go on. */
function step(event: KeyboardEvent<HTMLElement>, side: Side) {
  const { key, target } = event;
  if (key !== "ArrowUp" && key !== "ArrowDown") return;
  event.preventDefault();
  const row = (target as HTMLElement).closest("li");
  // The best ask is the lowest of its side.
  const isNext = (key === "ArrowDown") === (side === "bids");
  (isNext ? row?.nextElementSibling : row?.previousElementSibling)?.querySelector("button")?.focus();
}

interface BookRowProps {
  side: Side;
  price: string;
  quantity: bigint;
  total: bigint;
  share: number;
  isOwn: boolean;
  places: number;
  quantityPlaces: number;
  inQuote: boolean;
  isBest: boolean;
  onPrice: (price: string) => void;
}

const BookRow = memo(function BookRow(props: BookRowProps) {
  const { side, price, quantity, total, share, isOwn, places, quantityPlaces, inQuote, isBest, onPrice } =
    props;
  const amount = formatDecimal(scaledText(quantity), quantityPlaces);
  const sum = inQuote ? worthText(total) : formatDecimal(scaledText(total), quantityPlaces);
  return (
    <button
      type="button"
      tabIndex={isBest ? 0 : -1}
      className={`figures ${classes.row ?? ""}`}
      data-side={side}
      title={isOwn ? t("Your order stands here") : undefined}
      style={{ backgroundSize: `${(share * 100).toFixed(1)}% 18px` }}
      onClick={() => onPrice(price)}
    >
      <span className={classes.price}>
        {isOwn && (
          <span className={classes.own} role="img" aria-label={t("your order")}>
            ◆
          </span>
        )}
        {formatDecimal(price, places)}
      </span>
      <span>{amount}</span>
      <span className={classes.total}>{sum}</span>
    </button>
  );
});

/** A total in the quote asset, cut to what its column has room for. */
function worthText(total: bigint): string {
  const places = total < ONE ? 8 : total < 1000n * ONE ? 2 : 0;
  return formatDecimal(cutDecimal(scaledText(total), places), Math.min(places, 2));
}

/** Between the sides: the spread, or that the book may be old. */
function Spread({ book, market, isCurrent }: { book: Book; market: Market; isCurrent: boolean }) {
  const [ask, bid] = [book.asks[0], book.bids[0]];
  if (!isCurrent) {
    return (
      <p className={classes.middle} role="status">
        {t("Old prices: waiting for the exchange")}
      </p>
    );
  }
  if (!ask || !bid) return <p className={classes.middle}>{ask ? t("No bids") : t("No asks")}</p>;
  const spread = ask.scaledPrice - bid.scaledPrice;
  const hundredths = (spread * 1_000_000n) / ask.scaledPrice;
  const percent = `${hundredths / 10_000n}.${(hundredths % 10_000n).toString().padStart(4, "0").slice(0, 3)}`;
  return (
    <p className={classes.middle}>
      {rich("Spread {spread} {span}", {
        spread: (
          <span className="figures" title={t("{percent} % of the best ask", { percent })}>
            {formatDecimal(scaledText(spread), placesOf(market.tickSize))}
          </span>
        ),
        span: <span className={`figures ${classes.percent ?? ""}`}>{formatDecimal(percent)} %</span>,
      })}
    </p>
  );
}

/** The rows in which the user's own orders stand. */
function ownPrices(orders: readonly Order[], step: bigint): Readonly<Record<Side, ReadonlySet<bigint>>> {
  const found = { bids: new Set<bigint>(), asks: new Set<bigint>() };
  for (const { price, side } of orders) {
    if (price === null) continue;
    const level = { price, quantity: "1", scaledPrice: toScaled(price), scaledQuantity: 1n };
    const book = side === "buy" ? "bids" : "asks";
    const [row] = groupLevels([level], book, step, 1);
    if (row) found[book].add(row.scaledPrice);
  }
  return found;
}
