/** The exchange's functions and their states, as the web server tells them to everybody. Pure. */

export interface FunctionState {
  name: string;
  state: "works" | "degraded" | "down";
  /** Milliseconds since 1970. */
  since: number;
}

export const FUNCTIONS: Readonly<Record<string, { title: string; text: string }>> = {
  trading: { title: "Trading", text: "Placing, changing and cancelling orders" },
  prices: { title: "Prices", text: "Order books, trades, candles and fair prices" },
  live: { title: "Live updates", text: "Prices and your orders without reloading" },
  account: { title: "Account", text: "Login, security, settings" },
  funds: {
    title: "Deposits and withdrawals",
    text: "Credits, withdrawals, and the record of every movement",
  },
  positions: { title: "Positions", text: "Profit and loss, tax lots" },
  margin: { title: "Margin", text: "Loans, leverage, liquidation" },
  subscriptions: { title: "Plans", text: "Subscriptions and their payments" },
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
  if (down.length > 0) return `Down at present: ${down.join(", ")}.`;
  if (degraded.length > 0) return `Works in part at present: ${degraded.join(", ")}.`;
  return "Everything works.";
}
