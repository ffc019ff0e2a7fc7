/** The steps of a withdrawal: those done, the one under way, and the one where it stopped. */
import { several, t } from "#lib/language.ts";
import { sayReason } from "../api/messages.ts";
import type { Withdrawal } from "./queries.ts";

/** Words, with the language that they are in if it is known and not that of the page. */
type Told = ReturnType<typeof sayReason>;

export type StepState = "done" | "current" | "waiting" | "stopped";

export interface Step {
  /** Which step it is: the same in every state. */
  id: string;
  /** What is true of the step now: what will happen, what happens, or what has happened. */
  name: string;
  state: StepState;
  /** What this step waits for, or why the withdrawal ended here; null if there is nothing to tell. */
  note: Told | null;
}

/** The names of each step while it is to come, and once it is done. */
const STEPS = [
  {
    id: "request",
    get toCome() {
      return t("Request");
    },
    get done() {
      return t("Requested");
    },
  },
  {
    id: "approval",
    get toCome() {
      return t("Approval");
    },
    get done() {
      return t("Approved");
    },
  },
  {
    id: "signature",
    get toCome() {
      return t("Signature");
    },
    get done() {
      return t("Signed");
    },
  },
  {
    id: "sending",
    get toCome() {
      return t("Sending");
    },
    get done() {
      return t("Sent");
    },
  },
  {
    id: "confirmation",
    get toCome() {
      return t("Confirmation");
    },
    get done() {
      return t("Confirmed");
    },
  },
  {
    id: "completion",
    get toCome() {
      return t("Completion");
    },
    get done() {
      return t("Completed");
    },
  },
] as const;

/** The step that each state is at, its name meanwhile, and what happens. */
const UNDER_WAY: Readonly<Partial<Record<Withdrawal["status"], { at: number; name: string; note: string }>>> =
  {
    pending_approval: {
      at: 1,
      get name() {
        return t("Waiting for approval");
      },
      get note() {
        return t("The exchange checks it");
      },
    },
    approved: {
      at: 2,
      get name() {
        return t("Being prepared");
      },
      note: "",
    },
    signing: {
      at: 2,
      get name() {
        return t("Waiting for signatures");
      },
      note: "",
    },
    broadcasting: {
      at: 3,
      get name() {
        return t("Being sent");
      },
      get note() {
        return t("On its way to the network");
      },
    },
    confirming: {
      at: 4,
      get name() {
        return t("Confirming");
      },
      note: "",
    },
  };

const STOPPED: Readonly<Partial<Record<Withdrawal["status"], string>>> = {
  get cancelled() {
    return t("Cancelled");
  },
  get rejected() {
    return t("Rejected");
  },
  get failed() {
    return t("Failed");
  },
};

/** Whether the withdrawal has not ended. */
export function isUnderWay({ status }: Withdrawal): boolean {
  return status in UNDER_WAY;
}

/**
 * Whether its user can cancel it: until it is approved, and until it is sent while such withdrawals are paused.
 * The exchange decides; this is what the page offers.
 */
export function isCancellable({ status }: Withdrawal, isPaused: boolean): boolean {
  return status === "pending_approval" || (isPaused && (status === "approved" || status === "signing"));
}

/** Whether it has ended without sending anything. */
export function hasStopped({ status }: Withdrawal): boolean {
  return status in STOPPED;
}

/** Why a withdrawal has ended without sending anything; null if it has not. */
export function reasonOf(withdrawal: Withdrawal): Told | null {
  const { status, reason } = withdrawal;
  if (!hasStopped(withdrawal)) return null;
  if (reason === null) return { detail: status === "cancelled" ? t("By you") : t("No reason is given") };
  // Who rejects a withdrawal writes why, in any language: that stays as it is.
  return status === "rejected" ? { detail: reason } : sayReason(reason);
}

/** The steps of a withdrawal. A stopped one shows the steps before as done, as far as the exchange reports them. */
export function stepsOf(withdrawal: Withdrawal): readonly Step[] {
  const stopped = STOPPED[withdrawal.status];
  if (stopped !== undefined) {
    return [
      { id: "request", name: t("Requested"), state: "done", note: null },
      { id: "end", name: stopped, state: "stopped", note: reasonOf(withdrawal) },
      {
        id: "funds",
        name: t("Your funds are free"),
        state: "done",
        note: { detail: t("Nothing was sent") },
      },
    ];
  }
  const current = UNDER_WAY[withdrawal.status];
  return STEPS.map(({ id, toCome, done }, index) => {
    if (current === undefined || index < current.at) return { id, name: done, state: "done", note: null };
    if (index > current.at) return { id, name: toCome, state: "waiting", note: null };
    return { id, name: current.name, state: "current", note: noteOf(withdrawal, current.note) };
  });
}

/** What the step under way waits for: how far it is, else the reason that the exchange gives, else `otherwise`. */
function noteOf(withdrawal: Withdrawal, otherwise: string): Told | null {
  const { status, reason, confirmations, requiredConfirmations } = withdrawal;
  if (status === "confirming")
    return {
      detail: several(
        requiredConfirmations,
        "{confirmations} of {count} confirmation",
        "{confirmations} of {count} confirmations",
        { confirmations },
      ),
    };
  if (reason === null) return otherwise === "" ? null : { detail: otherwise };
  const said = sayReason(reason);
  return { ...said, detail: sentence(said.detail) };
}

/** A reason of the exchange begins with a small letter, because messages of errors end with it. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
