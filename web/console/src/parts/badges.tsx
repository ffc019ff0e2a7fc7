import { Badge, type Tone } from "#lib/components/Badge.tsx";
import type { ParticipantState } from "../operator/participants.ts";

const STATUSES: Record<string, { tone: Tone; shape: string; text: string }> = {
  PENDING: { tone: "neutral", shape: "◌", text: "Pending" },
  OPEN: { tone: "accent", shape: "○", text: "Open" },
  PARTIALLY_FILLED: { tone: "accent", shape: "◐", text: "Partially filled" },
  FILLED: { tone: "positive", shape: "●", text: "Filled" },
  CANCELLED: { tone: "neutral", shape: "–", text: "Cancelled" },
  REJECTED: { tone: "negative", shape: "✕", text: "Rejected" },
};

const choices = Object.entries(STATUSES).map(([value, { text }]) => ({ value, label: text }));
/** As the engine writes them. An order that it has not taken yet is pending at the edge alone. */
export const ORDER_STATUSES = choices.filter(({ value }) => value !== "PENDING");
/** As the REST edge writes them. */
export const EDGE_ORDER_STATUSES = choices.map(({ value, label }) => ({ value: value.toLowerCase(), label }));

/** The state of an order in a word, as the engine or the REST edge writes it. */
export function OrderStatus({ status }: { status: string }) {
  const { tone, shape, text } = STATUSES[status.toUpperCase()] ?? {
    tone: "neutral" as const,
    shape: "?",
    text: status,
  };
  return (
    <Badge tone={tone} shape={shape}>
      {text}
    </Badge>
  );
}

/** Buy or sell, as the engine or the REST edge writes it. */
export function Side({ side }: { side: string }) {
  const isBuy = side.toUpperCase() === "BUY";
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
