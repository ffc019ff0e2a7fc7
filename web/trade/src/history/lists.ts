/** The lists of the history: what the exchange filters of each, what the page does, and the columns of its file. */
import { csvFile } from "#lib/csv.ts";
import { t } from "#lib/language.ts";
import { type Client, type Slice, slice } from "../api/client.ts";
import type { Fill, Order } from "../api/queries.ts";
import { type Conversion, CONVERSIONS } from "../conversions/queries.ts";
import type { Deposit } from "../deposits/queries.ts";
import type { Transaction } from "../portfolio/queries.ts";
import { STAKING, type StakingEvent } from "../staking/queries.ts";
import { type Withdrawal, WITHDRAWALS } from "../withdrawals/queries.ts";
import {
  type Bounds,
  collect,
  type Kept,
  patient,
  pause,
  readKept,
  type ReadPage,
  type Sieve,
} from "./reading.ts";

/** What of a list is wanted. */
export interface Wanted {
  /** A market or an asset, as the list is about; empty for all. */
  subject: string;
  /** The first moment that counts, in milliseconds since 1970, and the first that does not any more. */
  from: number | null;
  to: number | null;
}

interface Position {
  limit: number;
  cursor?: string;
}

interface Definition<Row> {
  name: string;
  title: string;
  /** What its rows are about. */
  subject: "market" | "asset";
  /** Where its pages are in the query cache: events of the account read what begins with it again. */
  key: readonly string[];
  /** What the route filters by itself; the page filters the rest. */
  routeFilters: { subject: boolean; period: boolean };
  read: (rest: Client, wanted: Wanted, position: Position, signal: AbortSignal) => Promise<Slice<Row>>;
  isAbout: (row: Row, subject: string) => boolean;
  timeOf: (row: Row) => string;
  /** The columns of the file, named as the exchange names them. */
  fields: readonly (keyof Row & string)[];
}

/** A file of a list. */
export interface ListFile {
  text: string;
  rows: number;
  /** How far back it reaches if there is more than fits, else null. */
  cutAt: string | null;
}

/** A list of the history. */
export interface HistoryList<Row> extends Definition<Row> {
  /** Whether the page has to look through rows that are not wanted. */
  isLookedThrough: (wanted: Wanted) => boolean;
  page: (rest: Client, wanted: Wanted, cursor: string | undefined, signal: AbortSignal) => Promise<Kept<Row>>;
  file: (
    rest: Client,
    wanted: Wanted,
    onProgress: (rows: number) => void,
    signal: AbortSignal,
  ) => Promise<ListFile>;
}

const PAGE = 50;
/** Rows that a request brings where most of them may not be wanted. */
const LOOKED_THROUGH = 200;
const LOOKS_MAX = 10;
/** The most that a request may bring. */
const FILE_PAGE = 1000;
/** Some lists go by the order of booking, in which neighbours may have times the wrong way round. */
const DISORDER_MS = 86_400_000;
export const FILE_BOUNDS: Bounds = { rowsMax: 50_000, requestsMax: 500 };
export const FILE_ENTRIES_MAX = FILE_PAGE * FILE_BOUNDS.requestsMax;

function list<Row>(definition: Definition<Row>): HistoryList<Row> {
  const { routeFilters, read, isAbout, timeOf, fields } = definition;
  const sieve = ({ subject, from, to }: Wanted): Sieve<Row> => ({
    keeps: (row) => {
      const time = Date.parse(timeOf(row));
      return (
        (subject === "" || isAbout(row, subject)) &&
        (from === null || time >= from) &&
        (to === null || time < to)
      );
    },
    isPast: (row) => from !== null && Date.parse(timeOf(row)) < from - DISORDER_MS,
  });
  const pages =
    (rest: Client, wanted: Wanted, limit: number, signal: AbortSignal): ReadPage<Row> =>
    (cursor) =>
      read(rest, wanted, { limit, ...(cursor === undefined ? {} : { cursor }) }, signal);
  const isLookedThrough = ({ subject, from, to }: Wanted) =>
    (subject !== "" && !routeFilters.subject) || ((from !== null || to !== null) && !routeFilters.period);
  return {
    ...definition,
    isLookedThrough,
    page(rest, wanted, cursor, signal) {
      const isLong = isLookedThrough(wanted);
      const reading = pages(rest, wanted, isLong ? LOOKED_THROUGH : PAGE, signal);
      const effort = isLong ? { rowsMin: PAGE, requestsMax: LOOKS_MAX } : { rowsMin: 0, requestsMax: 1 };
      return readKept(reading, sieve(wanted), cursor, effort);
    },
    async file(rest, wanted, onProgress, signal) {
      const reading = patient(pages(rest, wanted, FILE_PAGE, signal), (seconds) => pause(seconds, signal));
      const { rows, cutAt } = await collect(reading, sieve(wanted), FILE_BOUNDS, onProgress);
      const cells = rows.map((row) => fields.map((field) => textOf(row[field])));
      return {
        text: csvFile(fields, cells),
        rows: rows.length,
        cutAt: cutAt === null ? null : timeOf(cutAt),
      };
    },
  };
}

/** A field as the exchange has sent it: decimals and times are texts, the rest are counts. */
function textOf(value: unknown): string | null {
  return typeof value === "number" ? String(value) : typeof value === "string" ? value : null;
}

/** What the routes of orders and fills take. */
function ofMarket({ subject, from, to }: Wanted, position: Position) {
  return {
    ...position,
    ...(subject === "" ? {} : { symbol: subject }),
    ...(from === null ? {} : { from: new Date(from).toISOString() }),
    ...(to === null ? {} : { to: new Date(to).toISOString() }),
  };
}

/** What the routes of funds take. */
function ofAsset({ subject }: Wanted, position: Position) {
  return { ...position, ...(subject === "" ? {} : { asset: subject }) };
}

const MARKET = {
  subject: "market",
  routeFilters: { subject: true, period: true },
  isAbout: ({ symbol }: { symbol: string }, subject: string) => symbol === subject,
} as const;

const ASSET = {
  subject: "asset",
  routeFilters: { subject: true, period: false },
  isAbout: ({ asset }: { asset: string }, subject: string) => asset === subject,
  timeOf: ({ createdAt }: { createdAt: string }) => createdAt,
} as const;

export const ORDERS = list<Order>({
  ...MARKET,
  name: "orders",
  get title() {
    return t("Orders");
  },
  key: ["orders", "history"],
  read: (rest, wanted, position, signal) =>
    slice(rest.GET("/api/v1/orders/history", { params: { query: ofMarket(wanted, position) }, signal })),
  timeOf: ({ createdAt }) => createdAt,
  fields: [
    "createdAt",
    "updatedAt",
    "orderId",
    "clientOrderId",
    "symbol",
    "side",
    "type",
    "timeInForce",
    "price",
    "quantity",
    "filledQuantity",
    "remainingQuantity",
    "averagePrice",
    "fee",
    "feeCurrency",
    "status",
    "rejectReason",
    "marginMode",
  ],
});

export const FILLS = list<Fill>({
  ...MARKET,
  name: "fills",
  get title() {
    return t("Fills");
  },
  key: ["orders", "fills"],
  read: (rest, wanted, position, signal) =>
    slice(rest.GET("/api/v1/orders/trades", { params: { query: ofMarket(wanted, position) }, signal })),
  timeOf: ({ executedAt }) => executedAt,
  fields: [
    "executedAt",
    "tradeId",
    "orderId",
    "symbol",
    "side",
    "price",
    "quantity",
    "fee",
    "feeCurrency",
    "role",
    "sequence",
  ],
});

export const DEPOSITS = list<Deposit>({
  ...ASSET,
  name: "deposits",
  get title() {
    return t("Deposits");
  },
  key: ["funds", "deposits"],
  read: (rest, wanted, position, signal) =>
    slice(rest.GET("/api/v1/accounts/deposits", { params: { query: ofAsset(wanted, position) }, signal })),
  fields: [
    "createdAt",
    "confirmedAt",
    "txHash",
    "asset",
    "network",
    "address",
    "amount",
    "status",
    "requiredConfirmations",
  ],
});

export const WITHDRAWN = list<Withdrawal>({
  ...ASSET,
  name: "withdrawals",
  get title() {
    return t("Withdrawals");
  },
  key: WITHDRAWALS,
  read: (rest, wanted, position, signal) =>
    slice(rest.GET("/api/v1/accounts/withdrawals", { params: { query: ofAsset(wanted, position) }, signal })),
  fields: [
    "createdAt",
    "updatedAt",
    "id",
    "clientWithdrawalId",
    "asset",
    "network",
    "amount",
    "fee",
    "netAmount",
    "address",
    "tag",
    "status",
    "reason",
    "txHash",
  ],
});

export const CONVERTED = list<Conversion>({
  ...ASSET,
  name: "conversions",
  get title() {
    return t("Conversions");
  },
  key: CONVERSIONS,
  routeFilters: { subject: false, period: false },
  read: (rest, _, position, signal) =>
    slice(rest.GET("/api/v1/conversions", { params: { query: position }, signal })),
  isAbout: ({ fromAsset, toAsset }, subject) => fromAsset === subject || toAsset === subject,
  fields: [
    "createdAt",
    "completedAt",
    "id",
    "fromAsset",
    "fromAmount",
    "toAsset",
    "toAmount",
    "price",
    "spreadAmount",
    "status",
    "failureCode",
  ],
});

export const STAKED = list<StakingEvent>({
  ...ASSET,
  name: "staking",
  get title() {
    return t("Staking");
  },
  key: STAKING,
  routeFilters: { subject: false, period: false },
  read: (rest, _, position, signal) =>
    slice(rest.GET("/api/v1/staking/history", { params: { query: position }, signal })),
  fields: ["createdAt", "id", "balanceId", "type", "asset", "amount"],
});

export const MOVEMENTS = list<Transaction>({
  ...ASSET,
  name: "movements",
  get title() {
    return t("Movements");
  },
  key: ["funds", "transactions"],
  read: (rest, wanted, position, signal) =>
    slice(
      rest.GET("/api/v1/accounts/transactions", { params: { query: ofAsset(wanted, position) }, signal }),
    ),
  fields: [
    "createdAt",
    "transactionId",
    "asset",
    "amount",
    "balance",
    "entryType",
    "referenceType",
    "referenceId",
  ],
});

export const LISTS = [ORDERS, FILLS, DEPOSITS, WITHDRAWN, CONVERTED, STAKED, MOVEMENTS] as const;

export type AnyList = (typeof LISTS)[number];
