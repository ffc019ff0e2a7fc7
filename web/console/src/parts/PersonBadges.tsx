import { Badge, type Tone } from "#lib/components/Badge.tsx";
import type { Adjustment, LockKind, OperatorRequest, QueuedVerification } from "../people/queries.ts";

const VERIFICATIONS: Record<QueuedVerification["status"], readonly [Tone, string, string]> = {
  not_started: ["neutral", "○", "Not started"],
  pending: ["warning", "◐", "Waits for a decision"],
  on_hold: ["warning", "◑", "On hold"],
  approved: ["positive", "✓", "Approved"],
  retry: ["negative", "↻", "May try again"],
  rejected: ["negative", "✕", "Rejected"],
};
const REQUESTS: Record<OperatorRequest["status"], readonly [Tone, string, string]> = {
  waiting: ["warning", "◐", "Waits for a person"],
  approved: ["positive", "✓", "Approved"],
  rejected: ["negative", "✕", "Rejected"],
};
const ADJUSTMENTS: Record<Adjustment["status"], readonly [Tone, string, string]> = {
  waiting: ["warning", "◐", "Waits for a person"],
  rejected: ["negative", "✕", "Rejected"],
  pending: ["warning", "◑", "Being sent"],
  done: ["positive", "✓", "Done"],
  refused: ["negative", "✕", "Refused"],
};

function badge([tone, shape, word]: readonly [Tone, string, string]) {
  return (
    <Badge tone={tone} shape={shape}>
      {word}
    </Badge>
  );
}

export const VerificationBadge = ({ status }: { status: QueuedVerification["status"] }) =>
  badge(VERIFICATIONS[status]);
export const RequestBadge = ({ request }: { request: OperatorRequest }) =>
  request.status === "waiting" && Date.parse(request.expiresAt) <= Date.now()
    ? badge(["neutral", "○", "Expired"])
    : badge(REQUESTS[request.status]);
export const AdjustmentBadge = ({ status }: { status: Adjustment["status"] }) => badge(ADJUSTMENTS[status]);

/** What a user is kept from. */
export function LockBadges({ locks }: { locks: readonly LockKind[] }) {
  if (locks.length === 0) return "–";
  return (
    <>
      {locks.map((kind) => (
        <Badge key={kind} tone="negative" shape="■">
          {kind === "login" ? "Login" : "Withdrawals"}
        </Badge>
      ))}
    </>
  );
}
