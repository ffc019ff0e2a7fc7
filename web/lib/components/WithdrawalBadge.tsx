import { t, texts } from "../language.ts";
import { Badge, type Tone } from "./Badge.tsx";

type Label = readonly [words: string, tone: Tone, shape: string];

/** What traders and operators read of each state of a withdrawal, in English. */
export const WITHDRAWAL_LABELS = texts({
  pending_approval: ["Waiting for approval", "warning", "◔"],
  approved: ["Approved", "accent", "◑"],
  signing: ["Waiting for signatures", "warning", "◑"],
  broadcasting: ["Being sent", "accent", "◕"],
  confirming: ["Confirming", "accent", "◕"],
  completed: ["Completed", "positive", "●"],
  cancelled: ["Cancelled", "neutral", "–"],
  rejected: ["Rejected", "negative", "✕"],
  failed: ["Failed", "negative", "!"],
} as const satisfies Readonly<Record<string, Label>>);

export type WithdrawalState = keyof typeof WITHDRAWAL_LABELS;

/** The state of a withdrawal in a word. */
export function WithdrawalBadge({ status }: { status: WithdrawalState }) {
  const [words, tone, shape] = WITHDRAWAL_LABELS[status];
  return (
    <Badge tone={tone} shape={shape}>
      {t(words)}
    </Badge>
  );
}
