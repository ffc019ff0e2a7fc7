/** Which indicators the chart shows, and with which periods: kept in this browser. */
import { t } from "#lib/language.ts";
import { createStore, keep, readKept, useStore } from "#lib/store.ts";
import { KEY, shown } from "./shown.ts";

export const KINDS = ["sma", "ema", "bollinger", "vwap", "profile", "rsi", "macd", "atr"] as const;
export type Kind = (typeof KINDS)[number];

export interface Parameter {
  name: string;
  least: number;
  most: number;
}

export interface Indicator {
  id: string;
  kind: Kind;
  name: string;
  /** What it is, in one sentence. */
  meaning: string;
  parameters: readonly Parameter[];
  defaults: readonly number[];
  /** Whether it has a pane of its own below the candles. */
  hasPane: boolean;
}

const PERIOD: Parameter = {
  get name() {
    return t("Period");
  },
  least: 1,
  most: 500,
};
/** Shorter ones have nothing to average. */
const LONGER: Parameter = { ...PERIOD, least: 2 };

function average(id: string, kind: "sma" | "ema", period: number): Indicator {
  return {
    id,
    kind,
    name: kind === "sma" ? t("SMA") : t("EMA"),
    meaning:
      kind === "sma"
        ? t("Simple moving average: the mean of the last closes.")
        : t("Exponential moving average: later closes count more."),
    parameters: [PERIOD],
    defaults: [period],
    hasPane: false,
  };
}

export const INDICATORS: readonly Indicator[] = [
  average("sma-1", "sma", 20),
  average("sma-2", "sma", 50),
  average("sma-3", "sma", 200),
  average("ema-1", "ema", 12),
  average("ema-2", "ema", 26),
  {
    id: "bollinger",
    kind: "bollinger",
    get name() {
      return t("Bollinger bands");
    },
    get meaning() {
      return t("The moving average, and standard deviations above and below it.");
    },
    parameters: [
      LONGER,
      {
        get name() {
          return t("Deviations");
        },
        least: 1,
        most: 10,
      },
    ],
    defaults: [20, 2],
    hasPane: false,
  },
  {
    id: "vwap",
    kind: "vwap",
    get name() {
      return t("VWAP");
    },
    get meaning() {
      return t("Mean price of the day, each bar weighed with its volume. The day begins at 00:00 UTC.");
    },
    parameters: [],
    defaults: [],
    hasPane: false,
  },
  {
    id: "profile",
    kind: "profile",
    get name() {
      return t("Volume profile");
    },
    get meaning() {
      return t("How much was traded at which price, of the bars on the screen.");
    },
    parameters: [
      {
        get name() {
          return t("Rows");
        },
        least: 4,
        most: 100,
      },
    ],
    defaults: [24],
    hasPane: false,
  },
  {
    id: "rsi",
    kind: "rsi",
    get name() {
      return t("RSI");
    },
    get meaning() {
      return t("Relative strength index: gains among all changes, from 0 to 100.");
    },
    parameters: [LONGER],
    defaults: [14],
    hasPane: true,
  },
  {
    id: "macd",
    kind: "macd",
    get name() {
      return t("MACD");
    },
    get meaning() {
      return t("A quick average less a slow one, and the average of that.");
    },
    parameters: [
      {
        ...LONGER,
        get name() {
          return t("Fast");
        },
      },
      {
        ...LONGER,
        get name() {
          return t("Slow");
        },
      },
      {
        ...PERIOD,
        get name() {
          return t("Signal");
        },
      },
    ],
    defaults: [12, 26, 9],
    hasPane: true,
  },
  {
    id: "atr",
    kind: "atr",
    get name() {
      return t("ATR");
    },
    get meaning() {
      return t("Average true range: how far the price moves in a bar.");
    },
    parameters: [PERIOD],
    defaults: [14],
    hasPane: true,
  },
];

export interface Chosen {
  isShown: boolean;
  parameters: readonly number[];
}

/** By the id of an indicator. */
export type Choice = Readonly<Record<string, Chosen>>;

const storage = () => localStorage;

/** The choice that a kept text writes. What it lacks, or has wrong, is as at the first visit. */
export function choiceOf(text: string | null): Choice {
  const kept = parsed(text);
  return Object.fromEntries(
    INDICATORS.map(({ id, parameters, defaults }) => {
      const entry = kept[id];
      const numbers: readonly unknown[] = Array.isArray(entry?.parameters) ? entry.parameters : [];
      const isWhole =
        numbers.length === parameters.length && parameters.every((one, at) => isAllowed(one, numbers[at]));
      const known = isWhole ? (numbers as readonly number[]) : defaults;
      return [id, { isShown: entry?.isShown === true, parameters: known }];
    }),
  );
}

type Kept = Record<string, { isShown?: unknown; parameters?: unknown } | null | undefined>;

function parsed(text: string | null): Kept {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? (value as Kept) : {};
  } catch {
    return {};
  }
}

export function isAllowed({ least, most }: Parameter, value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

const choice = createStore<Choice>(choiceOf(readKept(storage, KEY)));

const count = () => shown.set(Object.values(choice.get()).filter(({ isShown }) => isShown).length);
count();
choice.subscribe(count);

/** Tell `listener` what is chosen, now and after each change, until the returned function is called. */
export function followChoice(listener: (choice: Choice) => void): () => void {
  listener(choice.get());
  return choice.subscribe(() => listener(choice.get()));
}

export function useChoice(): Choice {
  return useStore(choice);
}

/** Change the choice of one indicator. */
export function choose(id: string, changes: Partial<Chosen>): void {
  const before = choice.get();
  const known = before[id];
  if (!known) return;
  const next = { ...before, [id]: { ...known, ...changes } };
  choice.set(next);
  keep(storage, KEY, JSON.stringify(next));
}

/** Show no indicator, with the periods of the first visit. */
export function resetChoice(): void {
  choice.set(choiceOf(null));
  keep(storage, KEY, null);
}

/** The name on the chart: "SMA 20", "MACD 12 26 9". */
export function titleOf(indicator: Indicator, parameters: readonly number[]): string {
  return [indicator.name, ...parameters.map(String)].join(" ");
}
