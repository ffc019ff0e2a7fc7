/** The pages of the console in groups. A new page is one entry here, one route in App.tsx, and its file in pages/. */
import {
  ArrowSwitchIcon,
  CreditCardIcon,
  GraphIcon,
  type Icon,
  KeyIcon,
  ListUnorderedIcon,
  MeterIcon,
  PeopleIcon,
  PulseIcon,
  StackIcon,
  TagIcon,
  UploadIcon,
} from "@primer/octicons-react";

export interface Entry {
  path: string;
  title: string;
  icon: Icon;
  /** The letter after `g` that opens it. */
  key: string;
}

export interface Group {
  title: string;
  entries: readonly Entry[];
}

export const NAVIGATION: readonly Group[] = [
  {
    title: "Exchange",
    entries: [
      { path: "/", title: "Dashboard", icon: GraphIcon, key: "d" },
      { path: "/orders", title: "Orders", icon: ListUnorderedIcon, key: "o" },
      { path: "/trades", title: "Trades", icon: ArrowSwitchIcon, key: "t" },
    ],
  },
  {
    title: "Accounts",
    entries: [
      { path: "/participants", title: "Participants", icon: PeopleIcon, key: "p" },
      { path: "/balances", title: "Balances", icon: CreditCardIcon, key: "b" },
      { path: "/risk", title: "Risk", icon: MeterIcon, key: "r" },
    ],
  },
  {
    title: "Markets",
    entries: [
      { path: "/symbols", title: "Symbols", icon: StackIcon, key: "s" },
      { path: "/currencies", title: "Currencies", icon: TagIcon, key: "c" },
    ],
  },
  {
    title: "Operations",
    entries: [
      { path: "/withdrawals", title: "Withdrawals", icon: UploadIcon, key: "w" },
      { path: "/health", title: "Health", icon: PulseIcon, key: "h" },
    ],
  },
  {
    title: "Access",
    entries: [{ path: "/access", title: "Types and permissions", icon: KeyIcon, key: "a" }],
  },
];

/** Whether an entry is that of the page at `location`. */
export function isCurrent(entry: Pick<Entry, "path">, location: string): boolean {
  return entry.path === "/"
    ? location === "/"
    : location === entry.path || location.startsWith(`${entry.path}/`);
}
