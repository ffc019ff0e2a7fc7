import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createStore } from "#lib/store.ts";
import type { Link, Stream } from "../stream/connection.ts";
import { createPace } from "../stream/pace.ts";
import {
  BALANCES,
  followAccount,
  noteOrder,
  OPEN_ORDERS,
  type OpenOrders,
  openOrdersOf,
  readOpenOrders,
  TICKERS,
  withOrder,
} from "./live.ts";
import type { Order } from "./orderKinds.ts";

// What a browser has and Node lacks.
vi.mock("./session.ts", () => ({ currentSession: () => null, onSessionChange: () => () => undefined }));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Follower = Parameters<Stream["follow"]>[1];
type Push = Parameters<Follower["onPush"]>[0];

function followed() {
  const pushes = new Map<string, Follower["onPush"]>();
  const link = createStore<Link>({ state: "connecting", heardAt: 0, epoch: 0, spokenEpoch: 0 });
  const stream: Stream = {
    link,
    pace: createPace(),
    follow: (channel, { onPush }) => {
      pushes.set(channel, onPush);
      return () => undefined;
    },
    refresh: () => undefined,
    identify: () => undefined,
    close: () => undefined,
  };
  const client = new QueryClient();
  const read = () => client.setQueryData(BALANCES, []);
  for (const key of [BALANCES, TICKERS]) client.setQueryData(key, []);
  client.setQueryData<OpenOrders>(OPEN_ORDERS, { orders: [], hasOlder: false });
  const leave = followAccount(stream, client);
  const change = (more: Partial<Link>) => link.set({ ...link.get(), ...more });
  const old = () =>
    [OPEN_ORDERS, BALANCES, TICKERS]
      .filter((key) => client.getQueryState(key)?.isInvalidated)
      .map(([name]) => name);
  const push = (channel: string) => pushes.get(channel)?.({ data: {} } as Push);
  return { change, old, leave, push, read };
}

describe("the account on a page", () => {
  it("is read again once the edge knows the user, because events went by until then", () => {
    const { change, old, leave } = followed();
    change({ state: "live", epoch: 1 });
    vi.advanceTimersByTime(60_000);
    expect(old()).toEqual([]);
    change({ spokenEpoch: 1 });
    expect(old()).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(old()).toEqual(["orders", "balances"]);
    leave();
  });

  it("is read again with every connection, and so are the markets", () => {
    const { change, old, leave } = followed();
    change({ epoch: 1 });
    change({ epoch: 2 });
    expect(old()).toEqual(["tickers"]);
    change({ spokenEpoch: 2 });
    vi.advanceTimersByTime(1_000);
    expect(old()).toEqual(["orders", "balances", "tickers"]);
    leave();
  });
});

describe("the balances", () => {
  it("are read with a notice and once more, as a rejected withdrawal is free a moment later", () => {
    const { push, read, old, leave } = followed();
    push("notifications");
    expect(old()).toEqual(["balances"]);
    read();
    expect(old()).toEqual([]);
    vi.advanceTimersByTime(4_000);
    expect(old()).toEqual(["balances"]);
    leave();
  });
});

describe("open orders that are read while records of them come", () => {
  const client = new QueryClient();
  const order = (orderId: string, status: string, second: number) =>
    ({ orderId, status, updatedAt: `2026-01-01T00:00:0${second}Z` }) as Order;

  it("are without those that ended, with those that were placed, and as the newest record says", async () => {
    noteOrder(client, order("placed before and gone", "open", 1));
    noteOrder(client, order("ended before", "filled", 1));
    const { orders } = await readOpenOrders(undefined, () => {
      noteOrder(client, order("ended meanwhile", "filled", 2));
      noteOrder(client, order("placed meanwhile", "open", 2));
      noteOrder(client, order("filled in part", "partially_filled", 2));
      noteOrder(client, order("older record", "open", 1));
      const rows = [
        order("ended before", "open", 0),
        order("ended meanwhile", "open", 1),
        order("filled in part", "open", 1),
        order("older record", "partially_filled", 2),
        order("as it was", "open", 1),
      ];
      return Promise.resolve({ rows, next: null });
    });
    expect(orders.map(({ orderId, status }) => [orderId, status])).toEqual([
      ["placed meanwhile", "open"],
      ["filled in part", "partially_filled"],
      ["older record", "partially_filled"],
      ["as it was", "open"],
    ]);
  });
});

describe("the lists of open orders", () => {
  const order = (orderId: string, symbol: string, createdAt = "2026-01-01T00:00:00.000Z") =>
    ({ orderId, symbol, status: "open", createdAt, updatedAt: createdAt }) as Order;
  const ids = (list: OpenOrders | undefined) => list?.orders.map(({ orderId }) => orderId);

  it("of a market takes those of this market, and that of all markets takes all", () => {
    const client = new QueryClient();
    const listed = (symbol?: string) => ids(client.getQueryData<OpenOrders>(openOrdersOf(symbol)));
    for (const symbol of [undefined, "BTC-USD", "ETH-USD"])
      client.setQueryData<OpenOrders>(openOrdersOf(symbol), { orders: [], hasOlder: false });
    noteOrder(client, order("of bitcoin", "BTC-USD"));
    noteOrder(client, order("of ether", "ETH-USD"));
    expect(listed()).toEqual(["of ether", "of bitcoin"]);
    expect(listed("BTC-USD")).toEqual(["of bitcoin"]);
    expect(listed("ETH-USD")).toEqual(["of ether"]);
    expect(listed("SOL-USD")).toBeUndefined();
    noteOrder(client, { ...order("of bitcoin", "BTC-USD"), status: "filled" });
    expect(listed()).toEqual(["of ether"]);
    expect(listed("BTC-USD")).toEqual([]);
  });

  it("is read without what comes meanwhile in another market", async () => {
    const client = new QueryClient();
    const list = await readOpenOrders("BTC-USD", () => {
      noteOrder(client, order("meanwhile", "BTC-USD"));
      noteOrder(client, order("elsewhere", "ETH-USD"));
      return Promise.resolve({ rows: [order("read", "BTC-USD")], next: "further" });
    });
    expect(ids(list)).toEqual(["meanwhile", "read"]);
    expect(list.hasOlder).toBe(true);
  });

  it("that is cut stays one of the newest: a change of an older order does not come into it", () => {
    const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;
    const list = {
      orders: [order("newer", "BTC-USD", at(5)), order("last", "BTC-USD", at(4))],
      hasOlder: true,
    };
    expect(ids(withOrder(list, order("below", "BTC-USD", at(3))))).toEqual(["newer", "last"]);
    expect(ids(withOrder(list, order("new", "BTC-USD", at(6))))).toEqual(["new", "newer", "last"]);
    expect(ids(withOrder({ ...list, hasOlder: false }, order("late", "BTC-USD", at(3))))).toContain("late");
  });
});
