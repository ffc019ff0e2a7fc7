import { Badge, type Tone } from "#lib/components/Badge.tsx";
import { type MarketStatus, STATUSES } from "../operator/listings.ts";

const LOOKS: Record<MarketStatus, { tone: Tone; shape: string }> = {
  announced: { tone: "accent", shape: "○" },
  "post-only": { tone: "accent", shape: "◔" },
  auction: { tone: "accent", shape: "◑" },
  open: { tone: "positive", shape: "●" },
  delisting: { tone: "warning", shape: "◐" },
  delisted: { tone: "neutral", shape: "–" },
};

/** How far a market is between its announcement and its delisting. */
export function MarketStatusBadge({ status }: { status: MarketStatus }) {
  const { tone, shape } = LOOKS[status];
  return (
    <Badge tone={tone} shape={shape}>
      {STATUSES[status].title}
    </Badge>
  );
}
