import { type ReactNode, useState } from "react";
import { type Comparison, ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { hasDoneNothing } from "../engine/errors.ts";
import { explainIfAny } from "../engine/messages.ts";
import type { Edge } from "../operator/client.ts";
import { useActingName } from "../operator/session.ts";
import { useChange } from "../people/queries.ts";

/** The fewest letters of a reason that the trail takes. */
const REASON_LENGTH_MIN = 3;

interface ReasonDialogProps<Result> {
  title: string;
  children?: ReactNode;
  comparisons?: readonly Comparison[];
  missing?: readonly (string | false)[];
  typed?: string;
  confirm: string;
  /** The button that changes nothing, where the change itself is a cancellation. */
  dismiss?: string;
  danger?: boolean;
  /** Do it, with the reason and a key: a click that is repeated while the outcome is unknown has the same key. */
  act: (edge: Edge, reason: string, key: string) => Promise<Result>;
  /** What is told afterwards: a title and a line. */
  done: (result: Result) => readonly [string, string];
  onClose: () => void;
}

/** A change at the REST edge, with the reason that the audit trail keeps. */
export function ReasonDialog<Result>(props: ReasonDialogProps<Result>) {
  const { act, done, onClose, children, ...shown } = props;
  const [key, setKey] = useState(() => crypto.randomUUID());
  const change = useChange<string, Result>(
    async (edge, reason) => {
      try {
        return await act(edge, reason, key);
      } catch (error) {
        if (hasDoneNothing(error)) setKey(crypto.randomUUID());
        throw error;
      }
    },
    (result) => {
      onClose();
      toastDone(...done(result));
    },
  );
  return (
    <ConfirmDialog
      {...shown}
      operator={useActingName()}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      reasonStandsIn="the audit trail"
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(reason) => change.mutate(reason)}
      onClose={onClose}
    >
      {children}
    </ConfirmDialog>
  );
}
