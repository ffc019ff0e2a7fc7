/** The pages about the user's money, in the order of their bar. The header shows them as one. */
export const FUNDS_PAGES = [
  { path: "/wallet", title: "Balances" },
  { path: "/portfolio", title: "Portfolio" },
  { path: "/withdrawals", title: "Withdraw" },
  { path: "/staking", title: "Staking" },
  { path: "/history", title: "History" },
] as const;
