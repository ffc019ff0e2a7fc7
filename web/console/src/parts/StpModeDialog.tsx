import { useMutation } from "@tanstack/react-query";
import type { Participant } from "#gen/exchange/v1/admin_pb.ts";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { STP_MODES } from "../engine/catalogue.ts";
import { useEngine } from "../engine/engine.ts";
import { useRefresh } from "../engine/queries.ts";
import { useOperator } from "../engine/session.ts";
import { explainIfAny } from "../engine/messages.ts";

interface StpModeDialogProps {
  participant: Pick<Participant, "participantId" | "stpMode">;
  mode: string;
  onClose: () => void;
}

/** Set what happens when a participant's orders would trade with each other. */
export function StpModeDialog({ participant, mode, onClose }: StpModeDialogProps) {
  const engine = useEngine();
  const refresh = useRefresh();
  const titleOf = (name: string) => STP_MODES.find((known) => known.mode === name)?.title ?? name;
  const change = useMutation({
    mutationFn: (reason: string) => engine.setStpMode(participant.participantId, mode, reason),
    onSuccess: async () => {
      onClose();
      toastDone("Self-trade prevention is set", `${participant.participantId}: ${titleOf(mode)}`);
      await refresh("participants");
    },
  });
  return (
    <ConfirmDialog
      title="Change self-trade prevention?"
      operator={useOperator()}
      comparisons={[{ name: "Mode", before: titleOf(participant.stpMode), after: titleOf(mode) }]}
      asksReason
      confirm="Change the mode"
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(reason) => change.mutate(reason)}
      onClose={onClose}
    >
      <p>
        {STP_MODES.find((known) => known.mode === mode)?.description} It holds for orders that arrive from now
        on: the incoming order's participant decides.
      </p>
    </ConfirmDialog>
  );
}
