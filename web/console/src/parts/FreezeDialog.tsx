import { type ParticipantState, freeze, unfreeze } from "../operator/participants.ts";
import { FreezeState } from "./badges.tsx";
import { ReasonDialog } from "./ReasonDialog.tsx";

interface FreezeDialogProps {
  participant: { participantId: string; state: ParticipantState };
  onClose: () => void;
}

/** Freeze a participant, or end that. */
export function FreezeDialog({ participant: { participantId, state }, onClose }: FreezeDialogProps) {
  const isFrozen = state === "frozen";
  const after = isFrozen ? "active" : "frozen";
  return (
    <ReasonDialog
      title={isFrozen ? `End the freeze of ${participantId}?` : `Freeze ${participantId}?`}
      comparisons={[
        { name: "State", before: <FreezeState state={state} />, after: <FreezeState state={after} /> },
      ]}
      typed={isFrozen ? "" : participantId}
      confirm={isFrozen ? "End the freeze" : "Freeze"}
      danger={!isFrozen}
      act={(edge, reason) => (isFrozen ? unfreeze : freeze)(edge, participantId, reason)}
      done={() => [isFrozen ? `${participantId} is active again` : `${participantId} is frozen`, ""]}
      onClose={onClose}
    >
      {isFrozen
        ? "It can place orders again."
        : "Its new orders are refused, and its sessions with the engine end. Open orders stay in the book and can still trade. Whoever may freeze can end it."}
    </ReasonDialog>
  );
}
