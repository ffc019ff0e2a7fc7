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
