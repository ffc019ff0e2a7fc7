/**
 * The scenario tables of tests/scenarios/margin: the margin service runs them too, so that what this page shows
 * beforehand is what the service will decide. tests/support/margin_scenarios.py says how to read them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scaledText } from "#lib/scaled.ts";
import type { Market } from "../api/queries.ts";
import {
  availableMargin,
  figuresOf,
  holdingsOf,
  levelOf,
  liquidationPrice,
  marksOf,
  riskBandOf,
} from "./figures.ts";
import { mostBorrowed, mostOut, type Waiting } from "./moves.ts";
import { type OpeningReview, reviewOpening } from "./opening.ts";
import type { MarginAccount, MarginBalance, MarginPosition, MarginPrice } from "./queries.ts";

const FOLDER = join(import.meta.dirname, "../../../../tests/scenarios/margin");
const VALUATION_ASSET = "USD";

interface Case {
  name: string;
  prices: MarginPrice[];
  balances: MarginBalance[];
  positions: MarginPosition[];
  questions: { place: string; words: string[]; answer: string }[];
}

function readCases(file: string): Case[] {
  const cases: Case[] = [];
  for (const [index, line] of readFileSync(join(FOLDER, file), "utf-8").split("\n").entries()) {
    const [left = "", answer = ""] = line.trim().split(/\s+->\s+/);
    const [kind = "", ...words] = left.split(/\s+/);
    const place = `${file}:${index + 1}`;
    const [first = "", second = ""] = words;
    if (kind === "" || kind === "#") continue;
    if (kind === "case") {
      cases.push({ name: words.join(" "), prices: [], balances: [], positions: [], questions: [] });
      continue;
    }
    const last = cases.at(-1);
    if (kind === "price") last?.prices.push(priceOf(first, second, words.slice(2)));
    else if (kind === "holds") last?.balances.push(balanceOf(words));
    else if (kind === "bound")
      last?.positions.push({ status: "open", requiredMargin: first } as MarginPosition);
    else if (kind === "?") last?.questions.push({ place, words, answer });
    else throw new Error(`${place}: ${line}`);
  }
  return cases;
}

/** A price as the service sends it. */
function priceOf(asset: string, price: string, options: string[] = []): MarginPrice {
  const option = (name: string) =>
    options.includes(name) ? (options[options.indexOf(name) + 1] ?? null) : null;
  return {
    asset,
    low: option("low") ?? price,
    price,
    high: option("high") ?? price,
    dayMedian: option("day_median") ?? price,
    state: (option("state") ?? "good") as MarginPrice["state"],
    reason: "",
    sellable: option("sellable"),
    borrowable: option("borrowable"),
  };
}

function balanceOf([asset = "", total = "", ...options]: string[]): MarginBalance {
  const option = (name: string) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
  return {
    asset,
    total,
    available: option("free") ?? total,
    borrowed: option("owes") ?? "0",
    interest: option("interest") ?? "0",
    isOffered: true,
  };
}

/** The account as the service sends it. */
function accountOf({ balances, positions, prices }: Case): MarginAccount {
  const all = [...prices, priceOf(VALUATION_ASSET, "1")];
  return {
    status: "active",
    valuationAsset: VALUATION_ASSET,
    balances,
    positions,
    prices: all,
    borrowRate: "0.1",
  } as MarginAccount;
}

function answerOf(example: Case, [question = "", ...words]: string[]): string {
  const account = accountOf(example);
  const marks = marksOf(account);
  const holdings = holdingsOf(example.balances);
  const [asset = ""] = words;
  if (question === "level") {
    const figures = figuresOf(holdings, marks);
    if (figures === null) return "unpriced";
    const level = levelOf(figures);
    return `${textOf(level)} ${riskBandOf(level)}`;
  }
  if (question === "most-out") return mostText(mostOut(account, asset, marks));
  if (question === "most-borrowed") return mostText(mostBorrowed(account, asset, marks));
  if (question === "liquidation-price") {
    const [base = "", quote = ""] = asset.split("-");
    const price = liquidationPrice(holdings, marks, base, quote);
    const isPriced = figuresOf(new Map([...holdings].filter(([name]) => name !== base)), marks) !== null;
    return textOf(price, isPriced ? "none" : "unpriced");
  }
  if (question === "open") return openingAnswer(account, words);
  throw new Error(`an unknown question: ${question}`);
}

function openingAnswer(
  account: MarginAccount,
  [side = "", quantity = "", symbol = "", leverage = ""]: string[],
) {
  if (side !== "buy" && side !== "sell") throw new Error(`an unknown side: ${side}`);
  const [baseAsset = "", quoteAsset = ""] = symbol.split("-");
  const limits = { quantityMin: null, quantityMax: null, notionalMin: null, notionalMax: null };
  const lotSize = "0.000000000000000001";
  const market = { ...limits, symbol, baseAsset, quoteAsset, lotSize, active: true } as Market;
  const draft = { side, quantity, leverage: leverage.replace("x", "") } as const;
  const review = reviewOpening(draft, { market, account });
  const verdict = verdictOf(review);
  if (review.estimate === null) return verdict;
  const { required, borrowed, borrowedAsset, level, liquidationPrice: price } = review.estimate;
  return (
    `${verdict} required ${textOf(required)} available ${textOf(availableMargin(account))}` +
    ` borrows ${textOf(borrowed)} ${borrowedAsset} level ${textOf(level)} liquidated-at ${textOf(price)}`
  );
}

/** The service's name for what the page says. */
function verdictOf({ blocked, faults, isUnsure, estimate }: OpeningReview): string {
  if (faults.leverage) return "invalid_leverage";
  if (isUnsure) return "price_not_sure";
  if (blocked === null) return "approved";
  if (blocked.includes("of margin, and")) return "insufficient_margin";
  if (estimate?.isTooRisky) return "would_be_liquidated";
  if (blocked.includes("can be borrowed now")) return "too_little_liquidity";
  return blocked.includes("price") ? "no_mark_price" : blocked;
}

function mostText(most: bigint | Waiting): string {
  return typeof most === "bigint" ? scaledText(most) : most.why;
}

function textOf(amount: bigint | null, absent = "none"): string {
  return amount === null ? absent : scaledText(amount);
}

const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".txt"));

describe.each(FILES)("the page says what the scenario says: %s", (file) => {
  it.each(readCases(file).map((example) => [example.name, example] as const))("%s", (_, example) => {
    const found = example.questions.map(({ place, words }) => `${place}: ${answerOf(example, words)}`);
    expect(found).toEqual(example.questions.map(({ place, answer }) => `${place}: ${answer}`));
  });
});

it("the tables are there", () => {
  expect(FILES).toEqual(["levels.txt", "limits.txt", "openings.txt"]);
});
