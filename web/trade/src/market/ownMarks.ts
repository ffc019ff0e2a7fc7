/** The reader's open orders and average cost as lines of the chart, and their fills as marks at the candles. */
import {
  createSeriesMarkers,
  type IPriceLine,
  type ISeriesApi,
  type ISeriesPrimitive,
  LineStyle,
  MismatchDirection,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
} from "lightweight-charts";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { scaledText, toScaled } from "#lib/scaled.ts";
import { type Colours, light } from "#lib/theme/tokens.ts";
import { isBound, isWaiting, type Order } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { canvasValue } from "./candles.ts";
import {
  type Fill,
  isMovable,
  linePrice,
  LINES_MAX,
  lineWords,
  movedField,
  NOTHING,
  type Own,
} from "./own.ts";
import { createHandle, type Handle } from "./ownHandle.ts";
import classes from "./ownHandle.module.css";

/** What the line of an order says; of one that waits what for. */
export function orderTitle(
  order: Pick<Order, "side" | "type" | "remainingQuantity" | "triggerStatus" | "listRole" | "listState">,
) {
  const { side, type, remainingQuantity } = order;
  const words = `${side === "buy" ? t("Buy") : t("Sell")} ${formatDecimal(remainingQuantity)}`;
  const isGain = isBound(order) && order.listRole === "take_profit";
  if (!isWaiting(order) && !isGain) return words;
  if (type.startsWith("take_profit") || isGain) return t("Take profit: {words}", { words });
  return `${type.startsWith("trailing") ? t("Trailing stop") : t("Stop|order")}: ${words}`;
}

/** What stands at a line. The axis says its price, except where it counts in percent: there the line itself does. */
export function lineLabel(title: string, price: string, tickSize: string, isInPercent: boolean): string {
  if (!isInPercent) return title;
  const places = placesOf(tickSize);
  return `${title} · ${formatDecimal(canvasValue(price).toFixed(places), places)}`;
}

/** The orders whose lines are drawn, and how far the farthest is from the price; null if all are. */
export interface Choice {
  orders: readonly Order[];
  reach: number | null;
}

/** Of the orders with a line those nearest to the price; `kept` ones are among them however far they are. */
export function nearestLines(
  orders: readonly Order[],
  price: number,
  kept: (orderId: string) => boolean,
): Choice {
  const placed = orders.flatMap((order) => {
    const home = linePrice(order);
    return home === null ? [] : [{ order, distance: Math.abs(canvasValue(home) - price) }];
  });
  if (placed.length <= LINES_MAX) return { orders: placed.map(({ order }) => order), reach: null };
  const rank = ({ order, distance }: (typeof placed)[number]) => (kept(order.orderId) ? -1 : distance);
  const near = placed.sort((one, other) => rank(one) - rank(other)).slice(0, LINES_MAX);
  return { orders: near.map(({ order }) => order), reach: Math.max(...near.map(rank)) };
}

export interface FillMark {
  /** Begin of the candle, in seconds. */
  time: number;
  side: Fill["side"];
  /** What was bought or sold during the candle. */
  quantity: string;
  /** How many fills it stands for. */
  count: number;
}

/** One mark for each candle and side, oldest first. Fills before the first candle of `times` have none. */
export function fillMarks(fills: readonly Fill[], times: readonly number[]): FillMark[] {
  const sums = new Map<string, { time: number; side: Fill["side"]; scaled: bigint; count: number }>();
  for (const { side, quantity, executedAt } of fills) {
    const at = Date.parse(executedAt) / 1000;
    const time = times.findLast((begin) => begin <= at);
    if (time === undefined) continue;
    const key = `${time} ${side}`;
    const { scaled, count } = sums.get(key) ?? { scaled: 0n, count: 0 };
    sums.set(key, { time, side, scaled: scaled + toScaled(quantity), count: count + 1 });
  }
  return [...sums.values()]
    .sort((one, other) => one.time - other.time || one.side.localeCompare(other.side))
    .map(({ time, side, scaled, count }) => ({ time, side, quantity: scaledText(scaled), count }));
}

export interface OwnMarks {
  /** Draw orders and average cost, on an axis of prices or of changes in percent. */
  show: (own: Own, colours: Colours, market: Market, isInPercent: boolean) => void;
  /** Returns how many of the fills are in the candles that begin at `times`. */
  showFills: (fills: readonly Fill[], times: readonly number[]) => number;
  /** Take away what is no part of the chart. */
  remove: () => void;
}

interface Line {
  line: IPriceLine;
  handle: Handle | null;
  /** What the handle changes of its order; null if nothing can be. */
  moves: ReturnType<typeof movesOf>;
  title: string;
  /** Where it stands now. */
  price: string;
  /** Whether the chart draws it. */
  isDrawn: boolean;
}

const movesOf = (order: Order) => (isMovable(order) ? movedField(order) : null);

/** The marks on `candles`, and above them in `holder` what moves the lines. */
export function createOwnMarks(candles: ISeriesApi<"Candlestick">, holder: HTMLElement): OwnMarks {
  const markers = createSeriesMarkers<Time>(candles, []);
  const lines = new Map<string, Line>();
  let costLine: IPriceLine | null = null;
  const levelLines = new Map<string, IPriceLine>();
  let shown = NOTHING;
  let colours: Colours = light;
  /** What a line is labelled at its price. */
  let labelled: (title: string, price: string) => string = (title) => title;
  /** Of the pane of the candles, as it was drawn last. */
  let height = 0;
  /** Chooses and draws the lines of orders again; null before they are shown, and once they are taken away. */
  let drawOrders: (() => void) | null = null;
  let chosen = { price: 0, reach: null as number | null };
  let isChoosing = false;
  let isHiding = false;
  const note = document.createElement("p");
  note.className = classes.note ?? "";
  // The name of the chart says it, too.
  note.setAttribute("aria-hidden", "true");
  note.hidden = true;
  holder.append(note);

  /** Puts each handle where its line is drawn, with every drawing of the chart. */
  const follower: ISeriesPrimitive = {
    paneViews: () => [
      {
        renderer: () => ({
          draw: (target) =>
            target.useMediaCoordinateSpace(({ mediaSize }) => {
              ({ height } = mediaSize);
              lines.forEach(placeHandle);
              if ([...lines.values()].some((line) => isNear(line) !== line.isDrawn)) hideFar();
              chooseAgain();
            }),
        }),
      },
    ],
    autoscaleInfo: () => {
      const prices = shown.levels.filter(({ isFramed }) => isFramed).map(({ price }) => canvasValue(price));
      return prices.length === 0
        ? null
        : { priceRange: { minValue: Math.min(...prices), maxValue: Math.max(...prices) } };
    },
  };
  candles.attachPrimitive(follower);

  function placeHandle({ handle, price }: Line) {
    const y = candles.priceToCoordinate(canvasValue(price));
    handle?.place(y !== null && y >= 0 && y <= height ? y : null);
  }

  /** Whether a line is in sight, or would be after a small move of the scale. */
  function isNear({ price }: Line): boolean {
    const y = candles.priceToCoordinate(canvasValue(price));
    return y !== null && y >= -height && y <= 2 * height;
  }

  /** Take lines far out of sight from the chart, which measures each label with each drawing, and bring near ones back. */
  function hideFar() {
    if (isHiding) return;
    isHiding = true;
    // Not within a drawing, which it would begin anew.
    setTimeout(() => {
      isHiding = false;
      for (const line of lines.values()) {
        const isDrawn = isNear(line);
        if (isDrawn !== line.isDrawn)
          line.line.applyOptions({ lineVisible: isDrawn, axisLabelVisible: isDrawn });
        line.isDrawn = isDrawn;
      }
    });
  }

  function priceNow(): number {
    const bar = candles.dataByIndex(Number.MAX_SAFE_INTEGER, MismatchDirection.NearestLeft);
    return bar && "close" in bar ? bar.close : 0;
  }

  /** Choose other lines once the price has gone a good part of the way to the farthest that is drawn. */
  function chooseAgain() {
    if (isChoosing || chosen.reach === null) return;
    if (Math.abs(priceNow() - chosen.price) <= chosen.reach / 4) return;
    isChoosing = true;
    // Not within a drawing, which it would begin anew.
    setTimeout(() => {
      isChoosing = false;
      drawOrders?.();
    });
  }

  function choose(): readonly Order[] {
    const price = priceNow();
    const isKept = (id: string) =>
      shown.proposal?.order.orderId === id || lines.get(id)?.handle?.isHeld() === true;
    const { orders, reach } = nearestLines(shown.orders, price, isKept);
    chosen = { price, reach };
    note.hidden = reach === null;
    note.textContent = lineWords(shown.orders);
    return orders;
  }

  function move(line: Line, price: string) {
    line.price = price;
    line.line.applyOptions({ price: canvasValue(price), title: labelled(line.title, price) });
    placeHandle(line);
  }

  function handleOf(order: Order, market: Market): Handle | null {
    const { onPropose } = shown;
    if (onPropose === null || !isMovable(order)) return null;
    return createHandle(holder, {
      market,
      priceAt: (y) => candles.coordinateToPrice(y),
      onMove: (price) => {
        const line = lines.get(order.orderId);
        if (line) move(line, price);
      },
      // The newest function and order: both change while the handle stays.
      onDrop: (price) => {
        const now = shown.orders.find(({ orderId }) => orderId === order.orderId);
        if (now) shown.onPropose?.({ order: now, price });
      },
    });
  }

  function removeLine(id: string, { line, handle }: Line) {
    candles.removePriceLine(line);
    handle?.remove();
    lines.delete(id);
  }

  function showOrder(order: Order, home: string, market: Market) {
    const color = order.side === "buy" ? colours.positive : colours.negative;
    const title = orderTitle(order);
    let line = lines.get(order.orderId);
    if (!line) {
      const created = candles.createPriceLine({ price: canvasValue(home), lineWidth: 1 });
      line = {
        line: created,
        handle: handleOf(order, market),
        moves: movesOf(order),
        title,
        price: home,
        isDrawn: true,
      };
      lines.set(order.orderId, line);
    }
    line.title = title;
    line.line.applyOptions({
      color,
      lineStyle: isWaiting(order) ? LineStyle.SparseDotted : LineStyle.Dashed,
    });
    line.handle?.describe(`${title} ${market.baseAsset}`, home);
    const { proposal } = shown;
    if (line.handle?.isHeld()) move(line, line.price);
    else move(line, proposal?.order.orderId === order.orderId ? proposal.price : home);
  }

  function showAverageCost() {
    if (costLine) candles.removePriceLine(costLine);
    costLine = shown.averageCost
      ? candles.createPriceLine({
          price: canvasValue(shown.averageCost),
          color: colours.accent,
          lineWidth: 1,
          lineStyle: LineStyle.LargeDashed,
          title: labelled(t("Average cost"), shown.averageCost),
        })
      : null;
  }

  function showLevels() {
    for (const [id, line] of levelLines) {
      if (shown.levels.some((level) => level.id === id)) continue;
      candles.removePriceLine(line);
      levelLines.delete(id);
    }
    for (const { id, price, title, tone } of shown.levels) {
      const options = { price: canvasValue(price), color: colours[tone], title: labelled(title, price) };
      const line = levelLines.get(id);
      if (line) line.applyOptions(options);
      else {
        const made = { ...options, lineWidth: 2 as const, lineStyle: LineStyle.Solid };
        levelLines.set(id, candles.createPriceLine(made));
      }
    }
  }

  return {
    show(own, nextColours, market, isInPercent) {
      // Whether lines can be moved may change with the session.
      const isOther = (own.onPropose === null) !== (shown.onPropose === null);
      [shown, colours] = [own, nextColours];
      labelled = (title, price) => lineLabel(title, price, market.tickSize, isInPercent);
      if (isOther) lines.forEach((line, id) => removeLine(id, line));
      drawOrders = () => {
        const orders = choose();
        const moves = new Map(orders.map((order) => [order.orderId, movesOf(order)]));
        // An order that fires while its line is held lets go of it: the price was meant as a trigger.
        for (const [id, line] of [...lines]) if (moves.get(id) !== line.moves) removeLine(id, line);
        for (const order of orders) showOrder(order, linePrice(order) ?? "0", market);
      };
      drawOrders();
      showAverageCost();
      showLevels();
    },
    showFills(fills, times) {
      const marks = fillMarks(fills, times);
      markers.setMarkers(
        marks.map(({ time, side, quantity }): SeriesMarker<Time> => ({
          time: time as UTCTimestamp,
          position: side === "buy" ? "belowBar" : "aboveBar",
          shape: side === "buy" ? "arrowUp" : "arrowDown",
          color: side === "buy" ? colours.positive : colours.negative,
          text: formatDecimal(quantity),
        })),
      );
      return marks.reduce((sum, { count }) => sum + count, 0);
    },
    remove() {
      candles.detachPrimitive(follower);
      drawOrders = null;
      note.remove();
      for (const { handle } of lines.values()) handle?.remove();
      lines.clear();
    },
  };
}
