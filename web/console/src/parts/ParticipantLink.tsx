import { Anchor } from "@mantine/core";
import { Link } from "wouter";

/** A participant's id that opens its page. */
export function ParticipantLink({ id }: { id: string }) {
  return (
    <Anchor component={Link} href={`/participants/${encodeURIComponent(id)}`} inherit>
      {id}
    </Anchor>
  );
}
