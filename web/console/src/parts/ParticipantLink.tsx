import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { useSession } from "../engine/session.ts";

/** A participant's id that opens its page, for those who may look at it. */
export function ParticipantLink({ id }: { id: string }) {
  const { session } = useSession();
  if (session === null) return id;
  return (
    <Anchor component={Link} href={`/participants/${encodeURIComponent(id)}`} inherit>
      {id}
    </Anchor>
  );
}
