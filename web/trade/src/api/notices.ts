/** Notices that the exchange has sent to a user. Pure. */
import { formatDecimal } from "#lib/decimal.ts";
import { texts } from "#lib/language.ts";

export interface Notice {
  id: string;
  /** The subject, such as "margin.liquidation". */
  kind: string;
  title: string;
  text: string;
  /** In milliseconds since 1970. */
  createdAt: number;
  isRead: boolean;
}

export const NOTICES_MAX = 50;
const TIME_MAX = 8_640_000_000_000_000;

/** A notice as the exchange or the browser's storage has it, or null for anything else. */
export function readNotice(value: unknown): Notice | null {
  if (typeof value !== "object" || value === null) return null;
  const { id, kind, title, text, createdAt, isRead } = value as Partial<Record<keyof Notice, unknown>>;
  if (typeof id !== "string" || typeof kind !== "string") return null;
  if (typeof title !== "string" || typeof text !== "string") return null;
  if (typeof createdAt !== "number" || !(createdAt >= 0 && createdAt <= TIME_MAX)) return null;
  return { id, kind, title, text, createdAt, isRead: isRead === true };
}

/**
 * An amount of money before the name of its asset, or a ratio before a percent sign; years, ids and ports have none
 * behind them.
 */
const AMOUNT = /(?<![\w.,:/-])\d+(\.\d+)?(?= (?:%|(?!UTC)[A-Z][A-Z0-9]{1,9}\b))/g;

/**
 * A text of the exchange with its amounts as the pages write them. The exchange stores and sends them with a point and
 * without groups; in mails and on devices it writes them by the same rule (`rest_edge/languages/amounts.py`).
 */
export function withShownAmounts(text: string): string {
  return text.replace(AMOUNT, (amount) => formatDecimal(amount));
}

/** The notices that a kept text holds. */
export function readNotices(text: string | null): Notice[] {
  if (text === null) return [];
  try {
    const found: unknown = JSON.parse(text);
    if (!Array.isArray(found)) return [];
    return found
      .map(readNotice)
      .reduce<Notice[]>((notices, one) => (one ? withNotice(notices, one) : notices), []);
  } catch {
    return [];
  }
}

/** The notices with `added`, newest first and at most `NOTICES_MAX`. A notice with a known id is not added again. */
export function withNotice(notices: readonly Notice[], added: Notice): Notice[] {
  if (notices.some(({ id }) => id === added.id)) return [...notices];
  const newer = notices.filter(({ createdAt }) => createdAt > added.createdAt);
  return [...newer, added, ...notices.slice(newer.length)].slice(0, NOTICES_MAX);
}

/** The page that a notice links to, with its English title, by the first word of its kind; null if there is none. */
export function pageOf(kind: string): { path: string; title: string } | null {
  const [word = ""] = kind.split(/[._]/);
  return PAGES.get(word) ?? null;
}

/** The page that an address such as "/?notice=price.alert" leads to; null for any other address. */
export function pageOfAddress(search: string): string | null {
  const kind = new URLSearchParams(search).get("notice");
  return kind === null ? null : (pageOf(kind)?.path ?? null);
}

/** Whether a notice stays on the screen until the user dismisses it, because the user has to act. */
export function isUrgent(kind: string): boolean {
  return URGENT.has(kind) || URGENT.has(kind.split(".")[0] ?? "");
}

const URGENT: ReadonlySet<string> = new Set([
  "margin",
  "new",
  "security",
  "order.list_not_armed",
  "order.not_filled",
]);

const PAGES: ReadonlyMap<string, { path: string; title: string }> = new Map(
  texts([
    ["order", { path: "/history", title: "Order history" }],
    ["balance", { path: "/wallet", title: "Wallet" }],
    ["deposit", { path: "/wallet", title: "Wallet" }],
    ["payment", { path: "/wallet", title: "Wallet" }],
    ["withdrawal", { path: "/withdrawals", title: "Withdrawals" }],
    ["conversion", { path: "/convert", title: "Conversions" }],
    ["staking", { path: "/staking", title: "Staking" }],
    ["margin", { path: "/margin", title: "Margin" }],
    ["price", { path: "/alerts", title: "Price alerts" }],
    ["new", { path: "/account/security", title: "Security" }],
    ["password", { path: "/account/security", title: "Security" }],
    ["mfa", { path: "/account/security", title: "Security" }],
    ["security", { path: "/account/security", title: "Security" }],
    ["verification", { path: "/account/verification", title: "Verification" }],
    ["api", { path: "/account/api-keys", title: "API keys" }],
    ["push", { path: "/account/notifications", title: "Notifications" }],
  ]),
);
