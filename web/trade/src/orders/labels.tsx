import { Badge } from "#lib/components/Badge.tsx";
import { t, texts } from "#lib/language.ts";

/** The side in a word and a shape. */
export function SideBadge({ side }: { side: string }) {
  return side === "buy" ? (
    <Badge tone="positive" shape="▲">
      {t("Buy")}
    </Badge>
  ) : (
    <Badge tone="negative" shape="▼">
      {t("Sell")}
    </Badge>
  );
}

const STATUSES: Readonly<
  Record<
    string,
    readonly [words: string, shape: string, tone: "positive" | "negative" | "warning" | "neutral" | "accent"]
  >
> = texts({
  pending: ["Sent", "○", "neutral"],
  open: ["Open", "○", "accent"],
  partially_filled: ["Partly filled", "◐", "accent"],
  filled: ["Filled", "●", "positive"],
  cancelled: ["Cancelled", "✕", "neutral"],
  rejected: ["Rejected", "!", "negative"],
});

/** The state of an order. */
export function StatusBadge({ status }: { status: string }) {
  const [words, shape, tone] = STATUSES[status] ?? [status, "○", "neutral"];
  return (
    <Badge tone={tone} shape={shape}>
      {t(words)}
    </Badge>
  );
}

/** The types of orders, as `typeName` spells them. */
texts([
  "Limit",
  "Market|order",
  "Stop market",
  "Stop limit",
  "Take profit market",
  "Take profit limit",
  "Trailing stop market",
  "Trailing stop limit",
]);

/** The name of a type of orders: "Stop limit". */
export function typeName(type: string): string {
  // The word for a market order is another one than the word for a market in some languages.
  if (type === "market") return t("Market|order");
  const words = type.replaceAll("_", " ");
  return t(words.charAt(0).toUpperCase() + words.slice(1));
}

/** The type of an order with its time in force, in the words of traders: "Limit, IOC", "Limit, post-only". */
export function kindOf(type: string, timeInForce: string, postOnly = false): string {
  const name = typeName(type);
  if (postOnly) return t("{name}, post-only", { name });
  return timeInForce === "gtc" ? name : `${name}, ${timeInForce.toUpperCase()}`;
}
