/** The keys of the trading screen, as their list shows them; the parts of the page that they act on register them. */
export const SHORTCUTS = [
  { keys: "/", title: "Choose a market" },
  { keys: "b", title: "Buy" },
  { keys: "s", title: "Sell" },
  { keys: "l", title: "Limit order" },
  { keys: "m", title: "Market order" },
  { keys: "↑ ↓", title: "In price and amount: one step (with Shift: ten)" },
] as const;
