import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { crc32 } from "./crc32.ts";
import { backoff, connectStream, type Push } from "./connection.ts";
import { followBook, followTrades, mergeTrades, TRADES_SHOWN } from "./feeds.ts";

/** An edge that a test plays itself. */
class Socket {
  static all: Socket[] = [];
  readyState = 0;
  sent: Record<string, unknown>[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  constructor() {
    Socket.all.push(this);
  }
  send(text: string) {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }
  accept() {
    this.readyState = 1;
    this.onopen?.();
  }
  push(message: object) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  close(code = 1006) {
    this.readyState = 3;
    this.onclose?.({ code });
  }
  asked(action: string) {
    return this.sent.filter((message) => message.action === action).map(({ channel }) => channel);
  }
}

function last(): Socket {
  const socket = Socket.all.at(-1);
  if (!socket) throw new Error("nothing has connected");
  return socket;
}

const start = (onTokenRefused?: () => void) =>
  connectStream({
    url: "ws://edge",
    open: () => new Socket() as unknown as WebSocket,
    random: () => 0,
    ...(onTokenRefused ? { onTokenRefused } : {}),
  });
const bookPush = (data: object) => ({ channel: "orderbook:A-B", type: "update", seq: 1, ts: 0, data });
const level = { bids: [["9", "1"]], asks: [], checksum: crc32("9:1") };

// What a browser has and Node lacks.
vi.stubGlobal("addEventListener", () => undefined);
vi.stubGlobal("removeEventListener", () => undefined);
vi.stubGlobal("CloseEvent", class extends Event {});
vi.stubGlobal("requestAnimationFrame", () => 0);
afterAll(() => void vi.unstubAllGlobals());

beforeEach(() => {
  vi.useFakeTimers();
  Socket.all = [];
});
afterEach(() => vi.useRealTimers());

describe("the connection", () => {
  it("subscribes to everything again after it broke, and says so in between", () => {
    const stream = start();
    const pushes: Push[] = [];
    let breaks = 0;
    last().accept();
    stream.follow("ticker:A-B", { onPush: (push) => pushes.push(push), onBreak: () => (breaks += 1) });
    expect(last().asked("subscribe")).toEqual(["ticker:A-B"]);
    last().close();
    expect([stream.link.get().state, breaks]).toEqual(["broken", 1]);
    vi.advanceTimersByTime(1_000);
    last().accept();
    expect(Socket.all).toHaveLength(2);
    expect(last().asked("subscribe")).toEqual(["ticker:A-B"]);
    expect(stream.link.get()).toMatchObject({ state: "live", epoch: 2 });
    last().push({ channel: "ticker:A-B", type: "update", seq: 1, ts: 0, data: {} });
    expect(pushes).toHaveLength(1);
    stream.close();
  });

  it("waits longer after each failure, up to a limit", () => {
    const waits = [0, 1, 2, 3, 20].map((failures) => backoff(failures, 1));
    expect(waits).toEqual([400, 800, 1600, 3200, 15_000]);
    expect(backoff(3, 0)).toBe(1600);
  });

  it("notices an edge that says nothing any more, and leaves it", () => {
    const stream = start();
    last().accept();
    vi.advanceTimersByTime(6_000);
    expect(last().asked("ping")).toHaveLength(1);
    vi.advanceTimersByTime(7_000);
    expect(stream.link.get().state).toBe("silent");
    last().push({ type: "pong", ts: 0 });
    expect(stream.link.get().state).toBe("live");
    vi.advanceTimersByTime(27_000);
    expect(Socket.all.length).toBeGreaterThan(1);
    stream.close();
  });

  it("speaks for one user at a time", () => {
    const token = (sub: string, mark: string) => `x.${btoa(JSON.stringify({ sub, mark }))}.y`;
    const refused = vi.fn();
    const stream = start(refused);
    last().accept();
    stream.identify(token("ada", "1"));
    stream.identify(token("ada", "2"));
    expect(last().asked("authenticate")).toHaveLength(2);
    expect(stream.link.get().spokenEpoch).toBe(0);
    last().push({ type: "authenticated", userId: "ada", expiresAt: 1 });
    expect(stream.link.get().spokenEpoch).toBe(1);
    stream.identify(token("bob", "1"));
    expect(last().readyState).toBe(3);
    vi.advanceTimersByTime(1_000);
    last().accept();
    expect(last().sent[0]).toEqual({ action: "authenticate", token: token("bob", "1") });
    expect(stream.link.get()).toMatchObject({ epoch: 2, spokenEpoch: 1 });
    last().close(4401);
    expect(refused).toHaveBeenCalledOnce();
    stream.close();
  });

  it("unsubscribes when the last follower leaves", () => {
    const stream = start();
    last().accept();
    const leave = [1, 2].map(() => stream.follow("trades:A-B", { onPush: () => undefined }));
    leave[0]?.();
    expect(last().asked("unsubscribe")).toEqual([]);
    leave[1]?.();
    expect(last().asked("unsubscribe")).toEqual(["trades:A-B"]);
    stream.close();
  });
});

describe("the book on screen", () => {
  it("asks for a snapshot after a gap, and shows its last book as old until it comes", async () => {
    const stream = start();
    last().accept();
    const feed = followBook(stream, "A-B");
    last().push(bookPush({ type: "snapshot", seq: 1, prevSeq: 0, ...level }));
    expect(feed.store.get()).toMatchObject({ isCurrent: true, book: { seq: 1 } });
    last().push(bookPush({ type: "update", seq: 4, prevSeq: 3, ...level }));
    expect(feed.store.get()).toMatchObject({ isCurrent: false, resyncs: 1, book: { seq: 1 } });
    expect(last().asked("subscribe")).toHaveLength(2);
    last().push(bookPush({ type: "snapshot", seq: 4, prevSeq: 0, ...level }));
    await vi.advanceTimersByTimeAsync(200);
    expect(feed.store.get()).toMatchObject({ isCurrent: true, book: { seq: 4 } });
    feed.stop();
    stream.close();
  });

  it("changes at most ten times a second, and ends with the newest book", async () => {
    const stream = start();
    last().accept();
    const feed = followBook(stream, "A-B");
    last().push(bookPush({ type: "snapshot", seq: 1, prevSeq: 0, ...level }));
    let changes = 0;
    feed.store.subscribe(() => (changes += 1));
    for (let seq = 2; seq <= 101; seq += 1) {
      last().push(bookPush({ type: "update", seq, prevSeq: seq - 1, ...level }));
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(200);
    expect(changes).toBeLessThanOrEqual(11);
    expect(feed.store.get().book?.seq).toBe(101);
    feed.stop();
    stream.close();
  });

  it("is old as soon as the connection breaks", async () => {
    const stream = start();
    last().accept();
    const feed = followBook(stream, "A-B");
    last().push(bookPush({ type: "snapshot", seq: 1, prevSeq: 0, ...level }));
    last().close();
    await vi.advanceTimersByTimeAsync(200);
    expect(feed.store.get().isCurrent).toBe(false);
    feed.stop();
    stream.close();
  });
});

describe("trades", () => {
  const trade = (sequence: number) => ({
    tradeId: `t${sequence}`,
    price: "1",
    quantity: "1",
    side: "buy" as const,
    timestamp: sequence,
    sequence,
  });
  const push = (seq: number, prevSeq: number) => {
    const { sequence, ...rest } = trade(seq);
    return { channel: "trades:A-B", type: "update", seq, ts: 0, data: { ...rest, seq: sequence, prevSeq } };
  };

  it("are shown once each, the newest first, and no more than fit", () => {
    const many = Array.from({ length: TRADES_SHOWN + 5 }, (_, index) => trade(index + 1));
    const merged = mergeTrades([trade(3), trade(1)], many);
    expect(merged).toHaveLength(TRADES_SHOWN);
    expect(merged[0]?.sequence).toBe(TRADES_SHOWN + 5);
  });

  it("are read again after a gap and after a new connection", async () => {
    const stream = start();
    last().accept();
    const read = vi.fn(() => Promise.resolve([trade(1)]));
    const feed = followTrades(stream, "A-B", read);
    await vi.advanceTimersByTimeAsync(0);
    last().push(push(2, 1));
    last().push(push(2, 1));
    last().push(push(3, 2));
    expect(read).toHaveBeenCalledTimes(1);
    last().push(push(7, 5));
    expect(read).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(200);
    expect(feed.store.get().trades?.map(({ sequence }) => sequence)).toEqual([7, 3, 2, 1]);
    last().close();
    await vi.advanceTimersByTimeAsync(1_000);
    last().accept();
    expect(read).toHaveBeenCalledTimes(3);
    feed.stop();
    stream.close();
  });
});
