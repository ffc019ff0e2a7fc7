/** What orders that depend on each other would do, as orders/review.ts says it of one. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { readScaled, scaledText } from "#lib/scaled.ts";
import { limitWarnings, reviewConditional, triggerBandFault } from "./conditional.ts";
import { bandFault, bandWarnings, boundPrice, limitsFault, slippageFault } from "./bounds.ts";
import type { Draft, Facts, ListBody, OrderBody, Review } from "./draft.ts";
import { priceFault, review, sharedBody, slippageText, unready, waits } from "./review.ts";
import { triggerSentence } from "./triggerSentence.ts";

const otherSide = (side: Draft["side"]) => (side === "buy" ? "sell" : "buy");

/** Everything about the draft of several orders. */
export function reviewList(draft: Draft, facts: Facts): Review {
  return draft.isOco ? reviewOco(draft, facts) : reviewBracket(draft, facts);
}

/** A limit order and a stop on one side: what one fills, the other loses. The funds are held once, for what needs more. */
function reviewOco(draft: Draft, facts: Facts): Review {
  const plain = { ...draft, timeInForce: "gtc", postOnly: false, display: "" } as const;
  const limit = review({ ...plain, type: "limit" }, facts);
  const amount = limit.estimate === null ? draft.amount : scaledText(limit.estimate.quantity);
  const unit = limit.estimate === null ? draft.unit : "base";
  const stop = reviewConditional({ ...plain, ...stopOf(draft), amount, unit }, facts);
  const { price: ofStopLimit, ...ofStop } = stop.faults;
  const faults = { ...ofStop, ...(ofStopLimit ? { stopLimit: ofStopLimit } : {}), ...limit.faults };
  if (limit.estimate !== null && limit.estimate.filledNow > 0n)
    faults.price =
      draft.side === "buy"
        ? t("It would trade at once. Enter a price below the best ask.")
        : t("It would trade at once. Enter a price above the best bid.");
  if (Object.keys(faults).length > 0) return unready(limit.blocked ?? t("Correct the marked field."), faults);
  if (limit.body === null || stop.body === null || limit.estimate === null || stop.estimate === null)
    return unready(limit.blocked ?? stop.blocked ?? t("Correct the marked field."));
  const needsMore = stop.estimate.held > limit.estimate.held ? stop.estimate : limit.estimate;
  return {
    ...limit,
    blocked: limit.blocked ?? stop.blocked,
    estimate: { ...limit.estimate, held: needsMore.held, heldFee: needsMore.heldFee },
    warnings: [...limit.warnings, ...stop.warnings],
    needsWord: false,
    body: null,
    list: { type: "oco", orders: [limit.body, stop.body] },
  };
}

/** What the stop of a list is once it fires: an order at its limit, or one at the best prices. */
function stopOf({ stopLimit }: Draft) {
  const price = stopLimit.trim();
  return price === "" ? ({ type: "stop_market" } as const) : ({ type: "stop_limit", price } as const);
}

/** An entry, and behind it a take profit, a stop loss or both. Exits are placed with what the entry fills. */
function reviewBracket(draft: Draft, facts: Facts): Review {
  const whole = review({ ...draft, display: "" }, facts);
  // All orders of a list have one quantity, which an amount of money has not.
  const quantity = whole.estimate === null ? null : scaledText(whole.estimate.quantity);
  const entry =
    draft.unit === "quote" && quantity !== null
      ? review({ ...draft, display: "", unit: "base", amount: quantity }, facts)
      : whole;
  const { faults: ofExits, lack } = exitFaults(draft, facts);
  const faults = { ...entry.faults, ...ofExits };
  if (Object.keys(faults).length > 0) return unready(t("Correct the marked field."), faults);
  const { estimate, body } = entry;
  if (estimate === null || body === null) return entry;
  if (lack !== null) return { ...entry, blocked: lack, body: null };
  const exits = exitsOf(draft, facts, scaledText(estimate.quantity));
  const ofBounds = exits
    .map(({ price, stopPrice }) => readScaled(String(price ?? stopPrice)))
    .map((price) => (price === null ? null : limitsFault(facts, estimate.quantity, price)))
    .find((fault) => fault !== null);
  const profit = readScaled(draft.takeProfit.trim());
  const ofBands = (profit === null ? null : bandFault(facts, profit)) ?? stopBandFault(draft, facts);
  return {
    ...entry,
    blocked: entry.blocked ?? ofBounds ?? ofBands,
    warnings: [
      ...entry.warnings,
      ...(profit === null ? [] : bandWarnings(facts, profit)),
      ...stopWarnings(draft),
    ],
    body: null,
    list: { type: exits.length === 2 ? "bracket" : "oto", orders: [body, ...exits] },
  };
}

const stopPrices = ({ stopLoss, stopLimit }: Draft) =>
  [readScaled(stopLoss.trim()), readScaled(stopLimit.trim())] as const;

function stopBandFault(draft: Draft, { market }: Facts): string | null {
  const [trigger, limit] = stopPrices(draft);
  return trigger === null || limit === null ? null : triggerBandFault("stop_limit", market, trigger, limit);
}

function stopWarnings(draft: Draft): string[] {
  const [trigger, limit] = stopPrices(draft);
  return trigger === null || limit === null ? [] : limitWarnings(otherSide(draft.side), trigger, limit);
}

/** At which prices the entry is expected to fill: at best, and the worst at which it may rest. Null if nobody knows. */
function entryPrices(draft: Draft, facts: Facts): { expected: bigint; worst: bigint } | null {
  const last = facts.lastPrice === null ? null : readScaled(facts.lastPrice);
  const isLimit = draft.type === "limit";
  const limit = isLimit ? readScaled(draft.price.trim()) : boundPrice(draft, facts);
  if (limit === null) return null;
  const better = draft.side === "buy" ? last !== null && last < limit : last !== null && last > limit;
  const expected = better && last !== null ? last : limit;
  return { expected, worst: isLimit && waits(draft.timeInForce) ? limit : expected };
}

function exitFaults(draft: Draft, facts: Facts): { faults: Review["faults"]; lack: string | null } {
  const { market } = facts;
  const [takeProfit, stopLoss] = [draft.takeProfit.trim(), draft.stopLoss.trim()];
  const faults: Review["faults"] = {};
  const prices = entryPrices(draft, facts);
  const isBuy = draft.side === "buy";
  const profit = priceFault(takeProfit, market) ?? beyond(takeProfit, prices?.worst, isBuy);
  const loss = priceFault(stopLoss, market) ?? beyond(stopLoss, prices?.expected, !isBuy);
  if (profit) faults.takeProfit = profit;
  if (loss) faults.stopLoss = loss;
  const limit = stopLoss === "" ? null : priceFault(draft.stopLimit, market);
  if (limit) faults.stopLimit = limit;
  const slippage = stopLoss !== "" && draft.stopLimit.trim() === "" ? slippageFault(draft, market) : null;
  if (slippage) faults.slippage = slippage;
  const lack = takeProfit === "" && stopLoss === "" ? t("Enter a take profit, a stop loss or both.") : null;
  return { faults, lack };
}

/** What the price of an exit lacks, which is to be above the entry's or below it. */
function beyond(text: string, entry: bigint | undefined, isAbove: boolean): string | null {
  const price = readScaled(text);
  if (price === null || entry === undefined || (isAbove ? price > entry : price < entry)) return null;
  const shown = formatDecimal(scaledText(entry));
  return isAbove
    ? t("The entry fills at {price}. Enter a price above it.", { price: shown })
    : t("The entry fills at {price}. Enter a price below it.", { price: shown });
}

function exitsOf(draft: Draft, { market }: Facts, quantity: string): OrderBody[] {
  const shared = { ...sharedBody(draft, market), side: otherSide(draft.side), quantity } as const;
  const [price, stopPrice] = [draft.takeProfit.trim(), draft.stopLoss.trim()];
  const exits: OrderBody[] = [];
  if (price !== "") exits.push({ ...shared, type: "limit", price, timeInForce: "gtc" });
  if (stopPrice !== "") {
    const stop = stopOf(draft);
    const bound =
      stop.type === "stop_limit" ? { timeInForce: "gtc" as const } : { maxSlippageBps: slippageText(draft) };
    exits.push({ ...shared, ...stop, stopPrice, triggerBy: draft.triggerBy, ...bound });
  }
  return exits;
}

/** The orders of a list in words, one sentence for each, and then how they depend on each other. */
export function listSentences({ type, orders }: ListBody, market: Facts["market"]): string[] {
  const entry = type === "oco" ? null : orders[0];
  const exits = orders.slice(entry ? 1 : 0);
  return [
    ...(entry ? [t("Entry: {sentence}", { sentence: orderSentence(entry, market) })] : []),
    ...exits.map((order) => {
      const sentence = orderSentence(order, market);
      if (!entry)
        return order.stopPrice ? t("Stop: {sentence}", { sentence }) : t("Limit: {sentence}", { sentence });
      return order.stopPrice
        ? t("Stop loss: {sentence}", { sentence })
        : t("Take profit: {sentence}", { sentence });
    }),
    ...(entry ? [t("The exits are placed with what the entry fills.")] : []),
    ...(entry && exits.length === 2 ? [t("What one of the exits fills, the other loses.")] : []),
    ...(entry ? [] : [t("What one of them fills, the other loses.")]),
  ];
}

function orderSentence(order: OrderBody, { baseAsset, quoteAsset }: Facts["market"]): string {
  const { side, stopPrice, price } = order;
  if (stopPrice) {
    const triggerBy = order.triggerBy ?? "last";
    const fires = triggerSentence(
      { type: "stop_market", side, triggerBy, stopPrice: String(stopPrice), distance: "" },
      quoteAsset,
    );
    if (!price) return fires;
    return t("{sentence} Its limit is {price}.", {
      sentence: fires,
      price: `${formatDecimal(String(price))} ${quoteAsset}`,
    });
  }
  const quantity = `${formatDecimal(String(order.quantity))} ${baseAsset}`;
  if (!price)
    return side === "buy"
      ? t("Buys {quantity} at the best prices of the book.", { quantity })
      : t("Sells {quantity} at the best prices of the book.", { quantity });
  const words = { quantity, price: `${formatDecimal(String(price))} ${quoteAsset}` };
  return side === "buy"
    ? t("Buys {quantity} at {price} or better.", words)
    : t("Sells {quantity} at {price} or better.", words);
}
