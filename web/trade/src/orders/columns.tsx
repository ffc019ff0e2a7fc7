/** The columns and row menus of the user's orders and fills, wherever they are listed. */
import { Amount } from "#lib/components/Amount.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, withAreas } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import { divideScaled, toScaled } from "#lib/scaled.ts";
import { isWaiting, type Order } from "../api/orderKinds.ts";
import { type Fill, type Market, useMarkets } from "../api/queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { PageLink } from "../parts/PageLink.tsx";
import { Said } from "../parts/Said.tsx";
import { SideBadge, StatusBadge } from "./badges.tsx";
import { kindOf } from "./labels.ts";
import { listName } from "./listName.ts";
import { dealName } from "./orderName.ts";
import classes from "./OrdersPanel.module.css";
import { termsOf, waitsFor } from "./trigger.ts";

type Places = (symbol: string) => { price: number; quantity: number };

/** Digits of prices and quantities by market. */
export function usePlaces(): Places {
  const { data = [] } = useMarkets();
  const bySymbol = new Map<string, Market>(data.map((market) => [market.symbol, market]));
  return (symbol) => {
    const market = bySymbol.get(symbol);
    return { price: placesOf(market?.tickSize ?? ""), quantity: placesOf(market?.lotSize ?? "") };
  };
}

/** An order on a phone: what it is, what it asks for, and how far it has come. */
const ORDER_AREAS = {
  side: { name: "side" },
  market: { name: "market" },
  type: { name: "type" },
  time: { name: "time" },
  quantity: { name: "quantity", isTitled: true },
  price: { name: "price", align: "right", isTitled: true },
  filled: { name: "filled", isTitled: true },
  fee: { name: "fee", align: "right", isTitled: true },
  status: { name: "status", align: "right" },
  change: { name: "change", align: "right" },
} as const;
const ENDED_AREAS = {
  price: { name: "price", isTitled: true },
  filled: { name: "filled", align: "right", isTitled: true },
  average: { name: "average", align: "right", isTitled: true },
} as const;
const WIDTHS = "auto auto minmax(0, 1fr) auto";
export const OPEN_ORDER_CARD = `"side market type type" "quantity quantity price price" "filled filled change change" "time time change change" / ${WIDTHS}`;
export const ENDED_ORDER_CARD = `"side market type status" "quantity quantity filled filled" "price price average average" "time time fee fee" / ${WIDTHS}`;
export const FILL_CARD = `"side market role role" "quantity quantity price price" "time time fee fee" / ${WIDTHS}`;

/** The columns of any list of orders. */
export function orderColumns(places: Places): Column<Order>[] {
  const columns: Column<Order>[] = [
    {
      id: "time",
      title: t("Time"),
      cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
    },
    {
      id: "market",
      title: t("Market"),
      cell: ({ symbol }) => <PageLink href={`/${symbol}`}>{symbol}</PageLink>,
    },
    { id: "side", title: t("Side"), cell: ({ side }) => <SideBadge side={side} /> },
    {
      id: "type",
      title: t("Type"),
      cell: (order) => <Kind order={order} />,
    },
    {
      id: "price",
      title: t("Price"),
      align: "right",
      cell: ({ price, symbol }) =>
        price ? <Amount value={price} places={places(symbol).price} /> : t("market|price"),
    },
    {
      id: "quantity",
      title: t("Amount"),
      align: "right",
      cell: ({ quantity, symbol }) => <AssetAmount value={quantity} asset={symbol.split("-")[0] ?? ""} />,
    },
    {
      id: "filled",
      title: t("Filled"),
      align: "right",
      cell: ({ filledQuantity, quantity }) => (
        <span>
          <Amount value={filledQuantity} />{" "}
          <span className={classes.part}>{percentOf(filledQuantity, quantity)}</span>
        </span>
      ),
    },
    {
      id: "average",
      title: t("Average"),
      align: "right",
      cell: ({ averagePrice, symbol }) =>
        averagePrice ? <Amount value={averagePrice} places={places(symbol).price} /> : "–",
    },
  ];
  return withAreas(columns, ORDER_AREAS);
}

/**
 * The type of an order; of one that waits what it waits for, of one that is good till a date the date, of one that was
 * rejected the reason.
 */
function Kind({ order }: { order: Order }) {
  const { type, timeInForce, postOnly, expiresAt, triggerStatus, listId, displayQuantity, rejectReason } =
    order;
  const terms = termsOf(order);
  return (
    <span className={classes.kind}>
      {kindOf(type, timeInForce, postOnly)}
      {terms && isWaiting(order) && <span className={classes.detail}>{waitsFor(terms)}</span>}
      {listId !== undefined && (
        <span className={classes.detail} title={listId}>
          {listName(order)}
        </span>
      )}
      {displayQuantity && (
        <span className={classes.detail}>
          {t("shows {quantity} at a time", { quantity: formatDecimal(displayQuantity) })}
        </span>
      )}
      {triggerStatus === "triggered" && <span className={classes.detail}>{t("has fired")}</span>}
      {timeInForce === "gtd" && expiresAt && (
        <span className={classes.detail}>
          {rich("until {time}", { time: <TimeText milliseconds={Date.parse(expiresAt)} /> })}
        </span>
      )}
      {rejectReason && (
        <span className={classes.detail}>
          <Said reason={rejectReason} />
        </span>
      )}
    </span>
  );
}

function percentOf(part: string, whole: string): string {
  const total = toScaled(whole);
  if (total === 0n) return "";
  const tenths = divideScaled(toScaled(part) * 1000n, total) / 10n ** 18n;
  return `${formatDecimal(`${tenths / 10n}${tenths % 10n ? `.${tenths % 10n}` : ""}`)} %`;
}

export const orderActions = ({ orderId, clientOrderId, listId }: Order) => [
  { label: t("Copy order id"), onClick: () => copyAndTell(orderId) },
  ...(clientOrderId ? [{ label: t("Copy client order id"), onClick: () => copyAndTell(clientOrderId) }] : []),
  ...(listId ? [{ label: t("Copy list id"), onClick: () => copyAndTell(listId) }] : []),
];

/** The columns of orders that have ended. */
export function endedOrderColumns(places: Places): Column<Order>[] {
  const more: Column<Order>[] = [
    {
      id: "fee",
      title: t("Fee"),
      align: "right",
      cell: ({ fee, feeCurrency }) => <AssetAmount value={fee} asset={feeCurrency} />,
    },
    {
      id: "status",
      title: t("State"),
      cell: ({ status }) => <StatusBadge status={status} />,
    },
  ];
  return withAreas([...orderColumns(places), ...more], { ...ORDER_AREAS, ...ENDED_AREAS });
}

/** The columns of fills. */
export function fillColumns(places: Places): Column<Fill>[] {
  const columns: Column<Fill>[] = [
    {
      id: "time",
      title: t("Time"),
      cell: ({ executedAt }) => <TimeText milliseconds={Date.parse(executedAt)} />,
    },
    {
      id: "market",
      title: t("Market"),
      cell: ({ symbol }) => <PageLink href={`/${symbol}`}>{symbol}</PageLink>,
    },
    { id: "side", title: t("Side"), cell: ({ side }) => <SideBadge side={side} /> },
    {
      id: "price",
      title: t("Price"),
      align: "right",
      cell: ({ price, symbol }) => <Amount value={price} places={places(symbol).price} />,
    },
    {
      id: "quantity",
      title: t("Amount"),
      align: "right",
      cell: ({ quantity, symbol }) => <AssetAmount value={quantity} asset={symbol.split("-")[0] ?? ""} />,
    },
    {
      id: "fee",
      title: t("Fee"),
      align: "right",
      cell: ({ fee, feeCurrency }) => <AssetAmount value={fee} asset={feeCurrency} />,
    },
    { id: "role", title: t("Role"), cell: ({ role }) => (role === "maker" ? t("Maker") : t("Taker")) },
  ];
  return withAreas(columns, { ...ORDER_AREAS, role: { name: "role" } });
}

/** A trade between two orders of the user is two fills. */
export const fillId = ({ tradeId, orderId }: Fill) => `${tradeId} ${orderId}`;

export const fillName = (fill: Fill) => dealName(fill);

export const fillActions = ({ tradeId, orderId }: Fill) => [
  { label: t("Copy trade id"), onClick: () => copyAndTell(tradeId) },
  { label: t("Copy order id"), onClick: () => copyAndTell(orderId) },
];
