import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createStore } from "#lib/store.ts";
import type { Link, Stream } from "../stream/connection.ts";
import { createPace } from "../stream/pace.ts";
import { BALANCES, followAccount, OPEN_ORDERS, TICKERS } from "./live.ts";

// What a browser has and Node lacks.
vi.mock("./session.ts", () => ({ currentSession: () => null, onSessionChange: () => () => undefined }));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function followed() {
  const link = createStore<Link>({ state: "connecting", heardAt: 0, epoch: 0, spokenEpoch: 0 });
  const stream: Stream = {
    link,
    pace: createPace(),
    follow: () => () => undefined,
    refresh: () => undefined,
    identify: () => undefined,
    close: () => undefined,
  };
  const client = new QueryClient();
  for (const key of [OPEN_ORDERS, BALANCES, TICKERS]) client.setQueryData(key, []);
  const leave = followAccount(stream, client);
  const change = (more: Partial<Link>) => link.set({ ...link.get(), ...more });
  const old = () =>
    [OPEN_ORDERS, BALANCES, TICKERS]
      .filter((key) => client.getQueryState(key)?.isInvalidated)
      .map(([name]) => name);
  return { change, old, leave };
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
