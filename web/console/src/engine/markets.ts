/** Symbols and currencies of /api/v1/admin, and the rules that a new symbol has to keep. */
import { parseCount } from "#lib/counts.ts";
import { isDecimal, isPositive, placesOf } from "#lib/decimal.ts";

export interface SymbolSpec {
  symbol: string;
  symbolId: number;
  baseCurrency: string;
  quoteCurrency: string;
  baseScaleK: number;
  quoteScaleK: number;
  /** Decimal text. */
  tickSize: string;
  /** Decimal text. */
  lotSize: string;
  /** Basis points. */
  takerFee: number;
  /** Basis points; negative is a rebate. */
  makerFee: number;
  active: boolean;
  /** What the market takes; the engine leaves it out in continuous trading. */
  phase?: string;
  /** Milliseconds since 1970; 0 or left out: no end is set. */
  phaseEndsAt?: number;
  /** Why the engine itself began the auction; left out if it did not. */
  phaseCause?: string;
}

/** The phases that can be set, in the words of the engine, each with what the market takes. */
export const PHASES = [
  { phase: "continuous", title: "Continuous trading", description: "Orders match as they come." },
  {
    phase: "auction",
    title: "Auction",
    description: "Limit orders collect without matching. When it ends, they trade at one price.",
  },
  {
    phase: "post-only",
    title: "Post-only",
    description: "Only post-only orders and stops come in. Nothing trades.",
  },
  {
    phase: "cancel-only",
    title: "Cancel-only",
    description: "No order comes in. Open ones can be cancelled and made smaller.",
  },
  { phase: "halted", title: "Halted", description: "No order comes in. Open ones can be cancelled." },
] as const;
export const PHASE_MINUTES_MAX = 30 * 24 * 60;

/** The title of a symbol's phase, and of an auction that the engine began by itself. */
export function phaseTitle(phase: string | undefined, cause?: string): string {
  if (phase === "auction" && cause) {
    return cause === "volatility-extension" ? "Volatility auction, extended" : "Volatility auction";
  }
  const known = PHASES.find((each) => each.phase === (phase ?? "continuous"));
  return known?.title ?? (phase === "uncrossing" ? "Auction being traded" : (phase ?? ""));
}

export interface Currency {
  currency: string;
  currencyId: number;
  name: string;
  /** Digits after the point. */
  places: number;
  /** The name of its picture; empty: it has none. */
  logo: string;
}

export interface NewSymbol {
  symbol: string;
  lotSize: string;
  tickSize: string;
  takerFee: number;
  makerFee: number;
  symbolId?: number;
}

export interface NewCurrency {
  currency: string;
  name: string;
  places: number;
  logo: string;
}

const SYMBOL_SHAPE: Record<
  Exclude<keyof SymbolSpec, "phase" | "phaseEndsAt" | "phaseCause">,
  "string" | "number" | "boolean"
> = {
  symbol: "string",
  symbolId: "number",
  baseCurrency: "string",
  quoteCurrency: "string",
  baseScaleK: "number",
  quoteScaleK: "number",
  tickSize: "string",
  lotSize: "string",
  takerFee: "number",
  makerFee: "number",
  active: "boolean",
};
const CURRENCY_SHAPE: Record<keyof Currency, "string" | "number" | "boolean"> = {
  currency: "string",
  currencyId: "number",
  name: "string",
  places: "number",
  logo: "string",
};

function readList<Row>(content: unknown, shape: Record<string, string>, what: string): Row[] {
  const isList =
    Array.isArray(content) &&
    content.every(
      (row: unknown) =>
        typeof row === "object" &&
        row !== null &&
        Object.entries(shape).every(
          ([field, type]) => typeof (row as Record<string, unknown>)[field] === type,
        ),
    );
  if (!isList) throw new Error(`the engine's list of ${what} is not in the expected shape`);
  return content as Row[];
}

/** The engine's list of symbols. Throws Error if it is none. */
export function readSymbols(content: unknown): SymbolSpec[] {
  return readList<SymbolSpec>(content, SYMBOL_SHAPE, "symbols");
}

/** The engine's list of currencies. Throws Error if it is none. */
export function readCurrencies(content: unknown): Currency[] {
  return readList<Currency>(content, CURRENCY_SHAPE, "currencies");
}

// Rules of a new symbol (the engine's domain/symbol.py; they are checked there again)

export const CURRENCY_PLACES_MAX = 18;
const SCALE_PLACES_MAX = 14;
const FEE_BPS_MAX = 1000;
const SYMBOL_ID_MAX = 2 ** 31 - 1;
export const CURRENCY_NAME = /^[A-Z0-9]{2,10}$/;

/** What the form of a new symbol holds, as it was typed. */
export interface SymbolDraft {
  baseCurrency: string;
  quoteCurrency: string;
  symbolId: string;
  tickSize: string;
  lotSize: string;
  takerFee: string;
  makerFee: string;
}

export interface SymbolCheck {
  id: string;
  /** The rule, and why it stands. */
  rule: string;
  /** The reason why the draft breaks it; empty if it keeps it; null while there is nothing to check. */
  fault: string | null;
}

/** A signed whole number of basis points, or null. */
export function parseBasisPoints(text: string): number | null {
  const count = parseCount(text.replace(/^-/, ""));
  return count === null ? null : text.startsWith("-") ? -count : count;
}

/** Why fees cannot be charged, each an empty text if it can. */
export function checkFees(takerText: string, makerText: string): { taker: string; maker: string } {
  const taker = parseBasisPoints(takerText);
  const maker = parseBasisPoints(makerText);
  if (taker === null || taker < 0 || taker > FEE_BPS_MAX) {
    return { taker: `The taker fee must be a whole number from 0 to ${FEE_BPS_MAX}.`, maker: "" };
  }
  if (maker === null || maker > FEE_BPS_MAX) {
    return { taker: "", maker: `The maker fee must be a whole number of at most ${FEE_BPS_MAX}.` };
  }
  return {
    taker: "",
    maker: maker < -taker ? `A rebate of ${-maker} is more than the taker fee of ${taker}.` : "",
  };
}

/** Every rule of a new symbol, with what the draft breaks. */
export function checkSymbol(
  draft: SymbolDraft,
  currencies: readonly string[],
  symbols: readonly { symbol: string; symbolId: number }[],
): SymbolCheck[] {
  const { baseCurrency: base, quoteCurrency: quote } = draft;
  const name = `${base}-${quote}`;
  const hasPair = base !== "" && quote !== "";
  const step = (text: string) => text !== "" && isDecimal(text) && isPositive(text);
  const places = { lot: placesOf(draft.lotSize), tick: placesOf(draft.tickSize) };
  const sum = places.lot + places.tick;
  const fees = checkFees(draft.takerFee, draft.makerFee);
  const id = parseCount(draft.symbolId);
  const stepCheck = (field: "tickSize" | "lotSize", what: string): SymbolCheck => ({
    id: field,
    rule: `${what} is a positive decimal.`,
    fault:
      draft[field] === ""
        ? null
        : step(draft[field])
          ? ""
          : `${what} must be a positive decimal, such as 0.01.`,
  });
  return [
    {
      id: "pair",
      rule: "Base and quote are two different currencies that exist.",
      fault: !hasPair
        ? null
        : base === quote
          ? "Base and quote are the same currency."
          : currencies.includes(base) && currencies.includes(quote)
            ? ""
            : "Create the missing currency first.",
    },
    {
      id: "name",
      rule: "The name is not taken.",
      fault: !hasPair ? null : symbols.some(({ symbol }) => symbol === name) ? `${name} exists already.` : "",
    },
    stepCheck("tickSize", "The tick size"),
    stepCheck("lotSize", "The lot size"),
    {
      id: "scale",
      rule: `Tick and lot have at most ${SCALE_PLACES_MAX} decimal places together. Amounts have 18, and four are kept for fees, so no trade and no fee ever rounds.`,
      fault:
        !step(draft.tickSize) || !step(draft.lotSize)
          ? null
          : sum > SCALE_PLACES_MAX
            ? `${places.tick} + ${places.lot} = ${sum} places are too many: take a coarser tick or lot.`
            : "",
    },
    {
      id: "takerFee",
      rule: `The taker fee is a whole number of basis points from 0 to ${FEE_BPS_MAX}.`,
      fault: draft.takerFee === "" ? null : fees.taker,
    },
    {
      id: "makerFee",
      rule: `The maker fee is at most ${FEE_BPS_MAX} basis points. A negative one is a rebate, never larger than the taker fee that pays for it.`,
      fault: draft.makerFee === "" || fees.taker !== "" ? null : fees.maker,
    },
    {
      id: "symbolId",
      rule: "The number is free. Without one the engine takes the next.",
      fault:
        draft.symbolId === ""
          ? ""
          : id === null || id < 1 || id > SYMBOL_ID_MAX
            ? `The number must be from 1 to ${SYMBOL_ID_MAX}.`
            : symbols.some(({ symbolId }) => symbolId === id)
              ? `The number ${id} is taken.`
              : "",
    },
  ];
}

/** The body that creates the symbol of a draft whose checks all hold. */
export function newSymbol(draft: SymbolDraft): NewSymbol {
  const id = parseCount(draft.symbolId);
  return {
    symbol: `${draft.baseCurrency}-${draft.quoteCurrency}`,
    lotSize: draft.lotSize,
    tickSize: draft.tickSize,
    takerFee: parseBasisPoints(draft.takerFee) ?? 0,
    makerFee: parseBasisPoints(draft.makerFee) ?? 0,
    ...(id === null ? {} : { symbolId: id }),
  };
}
