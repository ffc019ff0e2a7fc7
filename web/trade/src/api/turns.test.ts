import { describe, expect, it } from "vitest";
import { createTurns } from "./turns.ts";

const limited = (limit: string) => new Headers({ "X-RateLimit-Limit-short": limit });

/** Turns with a clock that stands, and when each request that was asked for is sent. */
function setUp() {
  const clock = { now: 0 };
  const waits: number[] = [];
  const turns = createTurns(
    () => clock.now,
    (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  );
  const sentAt = (isUrgent = false) => {
    const before = waits.length;
    void turns.take(isUrgent);
    return clock.now + (waits.length > before ? (waits.at(-1) ?? 0) : 0);
  };
  return { clock, turns, sentAt };
}

describe("the turns of requests", () => {
  it("send at once while the edge names no limit", () => {
    const { turns, sentAt } = setUp();
    turns.learn(new Headers());
    expect(Array.from({ length: 30 }, () => sentAt())).toEqual(Array.from({ length: 30 }, () => 0));
  });

  it("keep two below the limit in any second, in the order of asking", () => {
    const { turns, sentAt } = setUp();
    turns.learn(limited("4"));
    expect(Array.from({ length: 5 }, () => sentAt())).toEqual([0, 0, 1100, 1100, 2200]);
  });

  it("count what was sent before the limit was known", () => {
    const { clock, turns, sentAt } = setUp();
    for (let sent = 0; sent < 3; sent += 1) sentAt();
    turns.learn(limited("5"));
    clock.now = 400;
    expect(sentAt()).toBe(1100);
    clock.now = 5000;
    expect(sentAt()).toBe(5000);
  });

  it("let an order pass, and count it", () => {
    const { turns, sentAt } = setUp();
    turns.learn(limited("3"));
    expect([sentAt(), sentAt(true), sentAt()]).toEqual([0, 0, 1100]);
  });

  it("never stop, however small the limit", () => {
    const { turns, sentAt } = setUp();
    turns.learn(limited("1"));
    expect([sentAt(), sentAt()]).toEqual([0, 1100]);
  });
});
