/** The pages of the console in groups. A new page is one entry here, one route in App.tsx, and its file in pages/. */
import {
  ArrowSwitchIcon,
  BellIcon,
  ChecklistIcon,
  CreditCardIcon,
  DiffIcon,
  DownloadIcon,
  GitCompareIcon,
  GraphIcon,
  HistoryIcon,
  type Icon,
  IdBadgeIcon,
  KeyIcon,
  ListUnorderedIcon,
  MeterIcon,
  PeopleIcon,
  ProjectIcon,
  PulseIcon,
  ReportIcon,
  RepoIcon,
  StackIcon,
  TagIcon,
  TasklistIcon,
  LogIcon,
  MegaphoneIcon,
  PersonAddIcon,
  PersonIcon,
  UploadIcon,
} from "@primer/octicons-react";
import type { Permission } from "../operator/session.ts";

export interface Entry {
  path: string;
  title: string;
  icon: Icon;
  /** The key after `g` that opens it. */
  key: string;
  /** What opens it: a session with the engine, or a permission. */
  needs: "engine" | Permission;
  /** Whether a session with the engine opens it, too, whatever the user's roles are. */
  orEngine?: boolean;
}

export interface Group {
  title: string;
  entries: readonly Entry[];
}

export const NAVIGATION: readonly Group[] = [
  {
    title: "Exchange",
    entries: [
      { path: "/", title: "Dashboard", icon: GraphIcon, key: "d", needs: "engine" },
      { path: "/orders", title: "Orders", icon: ListUnorderedIcon, key: "o", needs: "engine" },
      { path: "/trades", title: "Trades", icon: ArrowSwitchIcon, key: "t", needs: "engine" },
    ],
  },
  {
    title: "Users",
    entries: [
      { path: "/users", title: "Users", icon: PersonIcon, key: "u", needs: "users.read" },
      { path: "/verifications", title: "Verifications", icon: IdBadgeIcon, key: "v", needs: "kyc.read" },
      { path: "/approvals", title: "Approvals", icon: ChecklistIcon, key: "n", needs: "users.read" },
      { path: "/all-orders", title: "All orders", icon: TasklistIcon, key: "1", needs: "orders.read_all" },
      { path: "/all-trades", title: "All trades", icon: GitCompareIcon, key: "2", needs: "trades.read_all" },
      { path: "/adjustments", title: "Adjustments", icon: DiffIcon, key: "j", needs: "balances.read_all" },
      { path: "/deposits", title: "Deposits", icon: DownloadIcon, key: "i", needs: "deposits.read" },
      {
        path: "/all-withdrawals",
        title: "All withdrawals",
        icon: HistoryIcon,
        key: "x",
        needs: "withdrawals.read",
      },
      { path: "/payments", title: "Payments", icon: CreditCardIcon, key: "y", needs: "payments.read" },
      { path: "/plans", title: "Plans", icon: ProjectIcon, key: "q", needs: "plans.read" },
    ],
  },
  {
    title: "Accounts",
    entries: [
      {
        path: "/participants",
        title: "Participants",
        icon: PeopleIcon,
        key: "p",
        needs: "participants.read",
        orEngine: true,
      },
      {
        path: "/balances",
        title: "Balances",
        icon: CreditCardIcon,
        key: "b",
        needs: "balances.read_all",
        orEngine: true,
      },
      { path: "/risk", title: "Risk", icon: MeterIcon, key: "r", needs: "risk.read", orEngine: true },
    ],
  },
  {
    title: "Markets",
    entries: [
      { path: "/listings", title: "Listings", icon: MegaphoneIcon, key: "m", needs: "markets.read" },
      { path: "/symbols", title: "Symbols", icon: StackIcon, key: "s", needs: "engine" },
      { path: "/currencies", title: "Currencies", icon: TagIcon, key: "c", needs: "engine" },
    ],
  },
  {
    title: "Operations",
    entries: [
      { path: "/withdrawals", title: "Withdrawals", icon: UploadIcon, key: "w", needs: "withdrawals.read" },
      { path: "/reports", title: "Reports", icon: ReportIcon, key: "k", needs: "reports.read" },
      { path: "/treasury", title: "Treasury", icon: RepoIcon, key: "z", needs: "balances.read_all" },
      { path: "/alerts", title: "Alerts", icon: BellIcon, key: "f", needs: "alerts.read" },
      { path: "/health", title: "Health", icon: PulseIcon, key: "h", needs: "health.read" },
    ],
  },
  {
    title: "Access",
    entries: [
      { path: "/operators", title: "Operators", icon: PersonAddIcon, key: "e", needs: "operators.read" },
      { path: "/trail", title: "Audit trail", icon: LogIcon, key: "l", needs: "audit.read" },
      { path: "/access", title: "Types and permissions", icon: KeyIcon, key: "a", needs: "permissions.read" },
    ],
  },
];

/** Whether an entry is that of the page at `location`. */
export function isCurrent(entry: Pick<Entry, "path">, location: string): boolean {
  return entry.path === "/"
    ? location === "/"
    : location === entry.path || location.startsWith(`${entry.path}/`);
}

/** Every page that the navigation names. */
export const ENTRIES = NAVIGATION.flatMap(({ entries }) => entries);

/** The entry of the page at `location`, or undefined for an address that is no page. */
export function entryOf(location: string): Entry | undefined {
  return ENTRIES.find((entry) => isCurrent(entry, location));
}
