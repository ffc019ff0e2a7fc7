import { CheckCircleIcon, StopIcon } from "@primer/octicons-react";
import type { RowAction } from "#lib/components/RowMenu.tsx";
import { useRefresh } from "../engine/queries.ts";
import { freeze, type ParticipantState, unfreeze } from "../operator/participants.ts";
import { FreezeState } from "./badges.tsx";
import { ReasonDialog } from "./ReasonDialog.tsx";

/** What the REST edge tells of a participant. */
export interface Freezable {
  participantId: string;
  state: ParticipantState;
  freezable: boolean;
}

/** Why a participant is neither frozen nor freed from here, or undefined. */
export function freezeFault({ state, freezable }: Freezable): string | undefined {
  if (!freezable)
    return "Accounts of the house, of margin, and administrators of the engine stay as they are.";
  return state === "inactive" ? "An administrator of the engine has deactivated it." : undefined;
}

/** The action of a row that opens the dialog. */
export function freezeAction(participant: Freezable, onClick: () => void): RowAction {
  const isFrozen = participant.state === "frozen";
  return {
    label: isFrozen ? "End the freeze…" : "Freeze…",
    icon: isFrozen ? <CheckCircleIcon /> : <StopIcon />,
    danger: !isFrozen,
    disabledReason: freezeFault(participant),
    onClick,
  };
}

interface FreezeDialogProps {
  participant: Freezable;
  onClose: () => void;
}

/** Freeze a participant, or end that. */
export function FreezeDialog({ participant: { participantId, state }, onClose }: FreezeDialogProps) {
  const refresh = useRefresh();
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
      act={async (edge, reason) => {
        await (isFrozen ? unfreeze : freeze)(edge, participantId, reason);
        await refresh("participants", "risk");
      }}
      done={() => [isFrozen ? `${participantId} is active again` : `${participantId} is frozen`, ""]}
      onClose={onClose}
    >
      {isFrozen
        ? "It can place orders again."
        : "Its new orders are refused, and its sessions with the engine end. It converts nothing, and opens, borrows and adds nothing on margin. Open orders stay in the book and can still trade; it can cancel them or make them smaller. A stop that its price reaches ends instead of trading, and the exits of a list are not placed when its entry trades. Whoever may freeze can end it."}
    </ReasonDialog>
  );
}
