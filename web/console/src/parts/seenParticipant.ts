/** A participant as both the engine and the REST edge tell of it. Pure. */
import type { Participant } from "#gen/exchange/v1/admin_pb.ts";
import type { OperatedParticipant } from "../operator/participants.ts";

export type SeenParticipant = Omit<OperatedParticipant, "createdAt"> & { createdAt: number | bigint };

/** What an administrator's session sees. The engine tells it neither of freezes nor who may be frozen. */
export function seenByAdministrator(participant: Participant): SeenParticipant {
  const { participantId, name, type, stpMode, createdAt, active } = participant;
  const state = active ? ("active" as const) : ("inactive" as const);
  return { participantId, name, type, stpMode, createdAt, state, freezable: false };
}

/** What the dialog of an activation needs of a participant. */
export function activatable({ participantId, state }: SeenParticipant) {
  return { participantId, active: state === "active" };
}
