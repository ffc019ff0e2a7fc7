/** The exchange's functions and their states, as the web server tells them to everybody. Pure. */
import { t } from "#lib/language.ts";

export interface FunctionState {
  name: string;
  state: "works" | "degraded" | "down";
  /** Milliseconds since 1970. */
  since: number;
}

export const FUNCTIONS: Readonly<Record<string, { title: string; text: string }>> = {
  trading: {
    get title() {
      return t("Trading");
    },
    get text() {
      return t("Placing, changing and cancelling orders");
    },
  },
  prices: {
    get title() {
      return t("Prices");
    },
    get text() {
      return t("Order books, trades, candles and fair prices");
    },
  },
  live: {
    get title() {
      return t("Live updates");
    },
    get text() {
      return t("Prices and your orders without reloading");
    },
  },
  account: {
    get title() {
      return t("Account");
    },
    get text() {
      return t("Login, security, settings");
    },
  },
  funds: {
    get title() {
      return t("Deposits and withdrawals");
    },
    get text() {
      return t("Credits, withdrawals, and the record of every movement");
    },
  },
  positions: {
    get title() {
      return t("Positions");
    },
    get text() {
      return t("Profit and loss, tax lots");
    },
  },
  margin: {
    get title() {
      return t("Margin");
    },
    get text() {
      return t("Loans, leverage, liquidation");
    },
  },
  subscriptions: {
    get title() {
      return t("Plans");
    },
    get text() {
      return t("Subscriptions and their payments");
    },
  },
};

const STATES: readonly unknown[] = ["works", "degraded", "down"];

/** The functions in the order of FUNCTIONS. Throws Error for anything that is no status. */
export function readStatus(content: unknown): FunctionState[] {
  const { functions } = (content ?? {}) as { functions?: unknown };
  if (!Array.isArray(functions)) throw new Error("the status has no functions");
  const found = functions.map((one: Partial<FunctionState>) => {
    if (typeof one.name !== "string" || !STATES.includes(one.state) || typeof one.since !== "number")
      throw new Error("the status holds what is no function");
    return one as FunctionState;
  });
  const order = Object.keys(FUNCTIONS);
  return found.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

/** All in one sentence. */
export function summary(functions: readonly FunctionState[]): string {
  const titles = (state: FunctionState["state"]) =>
    functions.filter((one) => one.state === state).map(({ name }) => FUNCTIONS[name]?.title ?? name);
  const [down, degraded] = [titles("down"), titles("degraded")];
  if (down.length > 0) return t("Down at present: {down}.", { down: down.join(", ") });
  if (degraded.length > 0)
    return t("Works in part at present: {degraded}.", { degraded: degraded.join(", ") });
  return t("Everything works.");
}
