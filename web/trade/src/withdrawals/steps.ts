/** The steps of a withdrawal: those done, the one under way, and the one where it stopped. */
import { plural } from "#lib/counts.ts";
import type { Withdrawal } from "./queries.ts";

export type StepState = "done" | "current" | "waiting" | "stopped";

export interface Step {
  /** Which step it is: the same in every state. */
  id: string;
  /** What is true of the step now: what will happen, what happens, or what has happened. */
  name: string;
  state: StepState;
  /** What this step waits for, or why the withdrawal ended here. */
  note: string;
}

/** The names of each step while it is to come, and once it is done. */
const STEPS = [
  { id: "request", toCome: "Request", done: "Requested" },
  { id: "approval", toCome: "Approval", done: "Approved" },
  { id: "signature", toCome: "Signature", done: "Signed" },
  { id: "sending", toCome: "Sending", done: "Sent" },
  { id: "confirmation", toCome: "Confirmation", done: "Confirmed" },
  { id: "completion", toCome: "Completion", done: "Completed" },
] as const;

/** The step that each state is at, its name meanwhile, and what happens. */
const UNDER_WAY: Readonly<Partial<Record<Withdrawal["status"], { at: number; name: string; note: string }>>> =
  {
    pending_approval: { at: 1, name: "Waiting for approval", note: "The exchange checks it" },
    approved: { at: 2, name: "Being prepared", note: "" },
    signing: { at: 2, name: "Waiting for signatures", note: "" },
    broadcasting: { at: 3, name: "Being sent", note: "On its way to the network" },
    confirming: { at: 4, name: "Confirming", note: "" },
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
      { id: "request", name: "Requested", state: "done", note: "" },
      { id: "end", name: stopped, state: "stopped", note: reason },
      { id: "funds", name: "Your funds are free", state: "done", note: "" },
    ];
  }
  const current = UNDER_WAY[withdrawal.status];
  return STEPS.map(({ id, toCome, done }, index) => {
    if (current === undefined || index < current.at) return { id, name: done, state: "done", note: "" };
    if (index > current.at) return { id, name: toCome, state: "waiting", note: "" };
    return { id, name: current.name, state: "current", note: noteOf(withdrawal, current.note) };
  });
}

/** What the step under way waits for: how far it is, else the reason that the exchange gives, else `otherwise`. */
function noteOf(withdrawal: Withdrawal, otherwise: string): string {
  const { status, reason, confirmations, requiredConfirmations } = withdrawal;
  if (status === "confirming") return `${confirmations} of ${plural(requiredConfirmations, "confirmation")}`;
  return reason === null ? otherwise : sentence(reason);
}

/** A reason of the exchange begins with a small letter, because messages of errors end with it. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
