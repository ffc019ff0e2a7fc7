import { expect, it } from "vitest";
import type { Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { distanceTo, dropOf, triggerAt } from "./trailing.ts";

const TICK = "0.5";
const market = { symbol: "BTC-USD", baseAsset: "BTC", quoteAsset: "USD", tickSize: TICK } as Market;
const trailing = {
  orderId: "1",
  clientOrderId: null,
  symbol: "BTC-USD",
  side: "sell",
  type: "trailing_stop_market",
  timeInForce: "gtc",
  price: null,
  quantity: "2",
  filledQuantity: "0",
  triggerBy: "last",
  triggerStatus: "waiting",
  stopPrice: "100",
  trailingBps: null,
  trailingAmount: "10",
} as unknown as Order;
const inPercent = { trailingBps: 150, trailingAmount: null };

it.each([
  // An amount: a whole step of the market, so that the trigger stands at the step where the line was let go.
  ["sell", {}, "97", "105", "8", "97"],
  ["sell", {}, "104.5", "105", "0.5", "104.5"],
  ["buy", {}, "113", "105", "8", "113"],
  ["buy", {}, "105.5", "105", "0.5", "105.5"],
  ["sell", {}, "97", "105.3", "8", "97"],
  ["buy", {}, "113", "104.7", "8", "113"],
  // Percent: of the two nearest hundredths the one whose trigger is nearer to where the line was let go.
  ["sell", inPercent, "97", "100", "3", "97"],
  ["buy", inPercent, "103", "100", "3", "103"],
  ["sell", inPercent, "97", "105", "7.61", "97"],
  ["buy", inPercent, "113", "105", "7.61", "113"],
  ["sell", inPercent, "99.5", "105", "5.23", "99.5"],
  ["sell", inPercent, "39990.5", "40000", "0.02", "39992"],
  ["sell", inPercent, "39988.5", "40000", "0.03", "39988"],
  ["buy", inPercent, "40011.5", "40000", "0.03", "40012"],
  ["buy", inPercent, "40000.5", "40000", "0", "40000"],
] as const)(
  "a %s order of %j that is let go at %s follows %s by %s, and fires at %s",
  (side, changes, price, followed, distance, trigger) => {
    const order = { ...trailing, side, ...changes };
    expect(distanceTo(order, price, followed, TICK)).toBe(distance);
    expect(triggerAt(order, distance, followed, TICK)).toBe(trigger);
  },
);

it.each([
  ["sell", "105"],
  ["sell", "105.5"],
  ["buy", "105"],
  ["buy", "104.5"],
] as const)("a %s order follows 105 at no distance if it is let go at %s", (side, price) => {
  expect(distanceTo({ ...trailing, side }, price, "105", TICK)).toBeNull();
  expect(distanceTo({ ...trailing, side, trailingBps: 1 }, price, "105", TICK)).toBeNull();
});

it("finds no distance below a step of the market", () => {
  expect(distanceTo(trailing, "105", "105.3", TICK)).toBeNull();
});

it("lets another order take the place of one that is moved, also at the distance that it had", () => {
  const { wanted, change } = dropOf({ order: trailing, price: "97" }, "105", market);
  expect(wanted).toMatchObject({ trailing: "8", price: "" });
  expect(change).toMatchObject({ faults: {}, body: { trailing: "8" } });
  expect(change.replacement).toMatchObject({ trailingAmount: "8", quantity: "2", mode: "stop_on_failure" });
  expect(change.replacement).not.toHaveProperty("price");
  const same = dropOf({ order: trailing, price: "95" }, "105", market).change;
  expect(same.replacement).toMatchObject({ trailingAmount: "10" });
  const moved = dropOf({ order: { ...trailing, ...inPercent }, price: "97" }, "100", market).change;
  expect(moved.replacement).toMatchObject({ trailingBps: 300 });
});

it("keeps the distance of a limit from what fires it", () => {
  const limited = { ...trailing, type: "trailing_stop_limit", price: "99.5" } as Order;
  const { wanted, change } = dropOf({ order: limited, price: "97" }, "105", market);
  expect(wanted.price).toBe("96.5");
  expect(change.replacement).toMatchObject({ price: "96.5", trailingAmount: "8" });
  const low = { ...limited, price: "1" };
  expect(dropOf({ order: low, price: "97" }, "105", market).change).toMatchObject({
    faults: { price: "A price is more than zero." },
    body: null,
    replacement: null,
  });
});

it.each([
  [{}, "105", "105", "It would fire at once: the last price is 105. Move the line below it."],
  [{ side: "buy" }, "105", "105", "It would fire at once: the last price is 105. Move the line above it."],
  [
    { triggerBy: "mark" },
    "1106",
    "1105.5",
    "It would fire at once: the mark price is 1,105.5. Move the line below it.",
  ],
  [
    { side: "buy", triggerBy: "mark" },
    "105",
    "105.5",
    "It would fire at once: the mark price is 105.5. Move the line above it.",
  ],
  [{ triggerBy: "mark" }, "97", null, "Nobody knows the price that it follows at present."],
  [{ side: "buy", ...inPercent }, "300", "105", "From 0.01 % to 99.99 %, in steps of 0.01 %."],
  [{ side: "buy", ...inPercent }, "40000.5", "40000", "From 0.01 % to 99.99 %, in steps of 0.01 %."],
] satisfies [Partial<Order>, string, string | null, string][])(
  "says before it is sent why %j cannot be let go at %s while the price is %s",
  (changes, price, followed, fault) => {
    const { change } = dropOf({ order: { ...trailing, ...changes }, price }, followed, market);
    expect(change).toEqual({ faults: { trailing: fault }, body: null, keepsPlace: false, replacement: null });
  },
);

it("amends an order that follows nothing", () => {
  const stop = { ...trailing, type: "stop_market", trailingAmount: null } as Order;
  const { wanted, change } = dropOf({ order: stop, price: "97" }, null, { ...market, lotSize: "0.001" });
  expect(wanted.stopPrice).toBe("97");
  expect(change).toMatchObject({ body: { stopPrice: "97" }, replacement: null });
});
