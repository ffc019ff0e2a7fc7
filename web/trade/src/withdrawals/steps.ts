/** The steps of a withdrawal: those done, the one under way, and the one where it stopped. */
import { plural } from "#lib/counts.ts";
import type { Withdrawal } from "./queries.ts";

export type StepState = "done" | "current" | "waiting" | "stopped";

export interface Step {
  name: string;
  state: StepState;
  /** What this step waits for, or why the withdrawal ended here. */
  note: string;
}

const NAMES = ["Requested", "Approved", "Signed", "Sent", "Confirmed", "Completed"] as const;

/** The step that each state waits for. */
const UNDER_WAY: Readonly<Partial<Record<Withdrawal["status"], { at: number; note: string }>>> = {
  pending_approval: { at: 1, note: "The exchange checks it" },
  approved: { at: 2, note: "It is being prepared" },
  signing: { at: 2, note: "Waits for signatures" },
  broadcasting: { at: 3, note: "On its way to the network" },
  confirming: { at: 4, note: "" },
};

const STOPPED: Readonly<Partial<Record<Withdrawal["status"], string>>> = {
  cancelled: "Cancelled",
  rejected: "Rejected",
  failed: "Failed",
};

/** Whether the withdrawal has not ended. */
export function isUnderWay({ status }: Withdrawal): boolean {
  return status in UNDER_WAY;
}

/** The steps of a withdrawal. A stopped one shows the steps before as done, as far as the exchange reports them. */
export function stepsOf(withdrawal: Withdrawal): readonly Step[] {
  const stopped = STOPPED[withdrawal.status];
  if (stopped !== undefined) {
    const reason = withdrawal.reason ?? (withdrawal.status === "cancelled" ? "By you" : "No reason is given");
    return [
      { name: "Requested", state: "done", note: "" },
      { name: stopped, state: "stopped", note: reason },
      { name: "Your funds are free", state: "done", note: "" },
    ];
  }
  const current = UNDER_WAY[withdrawal.status];
  return NAMES.map((name, index) => {
    if (current === undefined || index < current.at) return { name, state: "done", note: "" };
    if (index > current.at) return { name, state: "waiting", note: "" };
    const note =
      withdrawal.status === "confirming"
        ? `${withdrawal.confirmations} of ${plural(withdrawal.requiredConfirmations, "confirmation")}`
        : current.note;
    return { name, state: "current", note };
  });
}
