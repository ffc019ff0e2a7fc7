/** The pages in the header. A new page is one entry here, one route in App.tsx, and its file in pages/. */
import { t } from "#lib/language.ts";
import { FUNDS_PAGES } from "../parts/fundsPages.ts";

export interface Entry {
  path: string;
  title: string;
  isAt: (location: string) => boolean;
}

/** The wallet's own bar leads to the others. */
const FUNDS: ReadonlySet<string> = new Set(FUNDS_PAGES.map(({ path }) => path));

export const NAVIGATION: readonly [Entry, ...Entry[]] = [
  {
    path: "/",
    get title() {
      return t("Trade");
    },
    isAt: (location) => /^\/([A-Z0-9]+-[A-Z0-9]+)?$/.test(location),
  },
  {
    path: "/markets",
    get title() {
      return t("Markets");
    },
    isAt: (location) => location === "/markets",
  },
  {
    path: "/wallet",
    get title() {
      return t("Wallet");
    },
    isAt: (location) => FUNDS.has(location),
  },
  {
    path: "/convert",
    get title() {
      return t("Convert");
    },
    isAt: (location) => location === "/convert",
  },
  {
    path: "/positions",
    get title() {
      return t("Positions");
    },
    isAt: (location) => location === "/positions",
  },
  {
    path: "/margin",
    get title() {
      return t("Margin");
    },
    isAt: (location) => location === "/margin",
  },
  {
    path: "/account",
    get title() {
      return t("Account");
    },
    isAt: (location) => /^\/account(\/|$)/.test(location),
  },
];
