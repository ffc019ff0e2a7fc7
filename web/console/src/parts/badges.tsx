import { Badge, type Tone } from "#lib/components/Badge.tsx";
import type { ParticipantState } from "../operator/participants.ts";

const STATUSES: Record<string, { tone: Tone; shape: string; text: string }> = {
  OPEN: { tone: "accent", shape: "○", text: "Open" },
  PARTIALLY_FILLED: { tone: "accent", shape: "◐", text: "Partially filled" },
  FILLED: { tone: "positive", shape: "●", text: "Filled" },
  CANCELLED: { tone: "neutral", shape: "–", text: "Cancelled" },
  REJECTED: { tone: "negative", shape: "✕", text: "Rejected" },
};

export const ORDER_STATUSES = Object.entries(STATUSES).map(([value, { text }]) => ({ value, label: text }));

/** The state of an order in a word. */
export function OrderStatus({ status }: { status: string }) {
  const { tone, shape, text } = STATUSES[status] ?? { tone: "neutral" as const, shape: "?", text: status };
  return (
    <Badge tone={tone} shape={shape}>
      {text}
    </Badge>
  );
}

/** Buy or sell. */
export function Side({ side }: { side: string }) {
  const isBuy = side === "BUY";
  return (
    <Badge tone={isBuy ? "positive" : "negative"} shape={isBuy ? "▲" : "▼"}>
      {isBuy ? "Buy" : "Sell"}
    </Badge>
  );
}

/** Whether a participant may place orders, and if not, whether an operator may end that. */
export function FreezeState({ state }: { state: ParticipantState }) {
  if (state !== "frozen") return <ActiveState active={state === "active"} />;
  return (
    <Badge tone="warning" shape="◐">
      Frozen
    </Badge>
  );
}

/** Whether a participant or a symbol is active. */
export function ActiveState({ active }: { active: boolean }) {
  return (
    <Badge tone={active ? "positive" : "neutral"} shape={active ? "●" : "○"}>
      {active ? "Active" : "Inactive"}
    </Badge>
  );
}
