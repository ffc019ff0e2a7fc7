/** The prices of a market's margin positions that its chart marks. Pure. */
import { t } from "#lib/language.ts";
import { divideScaled, ONE, readScaled, toScaled } from "#lib/scaled.ts";
import type { Level } from "../market/own.ts";
import {
  fairPriceOf,
  holdingsOf,
  isUnderWay,
  liquidationPrice,
  marksOf,
  readablePrice,
  type RiskBand,
  riskBandOf,
} from "./figures.ts";
import type { MarginAccount, MarginPosition } from "./queries.ts";

/** A line this near to the fair price is always in sight: farther ones would press the candles together. */
const NEAR_PERCENT = 25n;
const TONES: Readonly<Record<RiskBand, Level["tone"]>> = {
  safe: "positive",
  warning: "warning",
  liquidation: "negative",
};

/** The risk band that the account is in: while it is liquidated the last one, whatever its level is now. */
export function accountBand({ status, marginLevel }: MarginAccount): RiskBand {
  return status === "liquidating"
    ? "liquidation"
    : riskBandOf(marginLevel === null ? null : toScaled(marginLevel));
}

/** The positions of one market that have not ended. */
export function positionsIn(symbol: string, { positions }: MarginAccount): MarginPosition[] {
  return positions.filter((position) => position.symbol === symbol && isUnderWay(position));
}

/** What the positions of one side cost on average; null without a position that has traded. */
function averageEntry(positions: readonly MarginPosition[], side: string): bigint | null {
  let [quantity, notional] = [0n, 0n];
  for (const position of positions) {
    const price = position.entryPrice === null ? null : readScaled(position.entryPrice);
    if (position.side !== side || price === null) continue;
    quantity += toScaled(position.quantity);
    notional += toScaled(position.quantity) * price;
  }
  return quantity === 0n ? null : notional / quantity;
}

/** Entry and liquidation price of the open positions of a market. */
export function linesOf(symbol: string, account: MarginAccount): readonly Level[] {
  const positions = positionsIn(symbol, account);
  if (positions.length === 0) return [];
  const marks = marksOf(account);
  const fair = fairPriceOf(symbol, marks);
  const [base = "", quote = ""] = symbol.split("-");
  const found: [id: string, price: bigint | null, title: string, tone: Level["tone"]][] = [
    ["long", averageEntry(positions, "buy"), t("Long entry"), "accent"],
    ["short", averageEntry(positions, "sell"), t("Short entry"), "accent"],
    [
      "liquidation",
      liquidationPrice(holdingsOf(account.balances), marks, base, quote),
      t("Liquidation"),
      TONES[accountBand(account)],
    ],
  ];
  return found.flatMap(([id, price, title, tone]) =>
    price === null ? [] : [{ id, price: readablePrice(price), title, tone, isFramed: isNear(price, fair) }],
  );
}

function isNear(price: bigint, fair: bigint | null): boolean {
  if (fair === null) return false;
  const distance = price > fair ? price - fair : fair - price;
  return divideScaled(distance, fair) * 100n <= NEAR_PERCENT * ONE;
}
