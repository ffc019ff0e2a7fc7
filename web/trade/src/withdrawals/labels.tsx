import { Badge, type Tone } from "#lib/components/Badge.tsx";
import type { Withdrawal } from "./queries.ts";

type Label = readonly [words: string, tone: Tone, shape: string];

export const WITHDRAWAL_LABELS: Readonly<Record<Withdrawal["status"], Label>> = {
  pending_approval: ["Waiting for approval", "warning", "◔"],
  approved: ["Approved", "accent", "◑"],
  signing: ["Waiting for signatures", "warning", "◑"],
  broadcasting: ["Being sent", "accent", "◕"],
  confirming: ["Confirming", "accent", "◕"],
  completed: ["Completed", "positive", "●"],
  cancelled: ["Cancelled", "neutral", "○"],
  rejected: ["Rejected", "negative", "✕"],
  failed: ["Failed", "negative", "!"],
};

export const WITHDRAWAL_STATES = Object.keys(WITHDRAWAL_LABELS) as Withdrawal["status"][];

/** The state of a withdrawal in a word. */
export function WithdrawalBadge({ status }: { status: Withdrawal["status"] }) {
  const [words, tone, shape] = WITHDRAWAL_LABELS[status];
  return (
    <Badge tone={tone} shape={shape}>
      {words}
    </Badge>
  );
}
