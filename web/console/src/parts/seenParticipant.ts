/** A participant as both the engine and the REST edge tell of it. Pure. */
import type { Participant } from "#gen/exchange/v1/admin_pb.ts";
import type { OperatedParticipant, ParticipantState } from "../operator/participants.ts";

export type SeenParticipant = Omit<OperatedParticipant, "createdAt"> & { createdAt: number | bigint };

/** What an administrator's session sees. The engine does not tell it who may be frozen. */
export function seenByAdministrator(participant: Participant): SeenParticipant {
  const { participantId, name, type, stpMode, createdAt } = participant;
  return { participantId, name, type, stpMode, createdAt, state: stateOf(participant), freezable: false };
}

function stateOf({ active, frozen }: Participant): ParticipantState {
  if (active) return "active";
  return frozen === true ? "frozen" : "inactive";
}
