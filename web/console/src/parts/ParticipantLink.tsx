import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { useSession } from "../engine/session.ts";
import { useCan } from "../operator/session.ts";

/** Whether the page of a participant opens. */
export function useOpensParticipants(): boolean {
  const { session } = useSession();
  return useCan()("participants.read") || session !== null;
}

/** A participant's id that opens its page, for those who may look at it. */
export function ParticipantLink({ id }: { id: string }) {
  if (!useOpensParticipants()) return id;
  return (
    <Anchor component={Link} href={`/participants/${encodeURIComponent(id)}`} inherit>
      {id}
    </Anchor>
  );
}
