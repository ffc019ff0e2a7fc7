/** The pages in the header. A new page is one entry here, one route in App.tsx, and its file in pages/. */
import { FUNDS_PAGES } from "../parts/fundsPages.ts";

export interface Entry {
  path: string;
  title: string;
  isAt: (location: string) => boolean;
}

/** The wallet's own bar leads to the others. */
const FUNDS: ReadonlySet<string> = new Set(FUNDS_PAGES.map(({ path }) => path));

export const NAVIGATION: readonly [Entry, ...Entry[]] = [
  { path: "/", title: "Trade", isAt: (location) => /^\/([A-Z0-9]+-[A-Z0-9]+)?$/.test(location) },
  { path: "/wallet", title: "Wallet", isAt: (location) => FUNDS.has(location) },
  { path: "/convert", title: "Convert", isAt: (location) => location === "/convert" },
  { path: "/positions", title: "Positions", isAt: (location) => location === "/positions" },
  { path: "/margin", title: "Margin", isAt: (location) => location === "/margin" },
  { path: "/account", title: "Account", isAt: (location) => /^\/account(\/|$)/.test(location) },
];
