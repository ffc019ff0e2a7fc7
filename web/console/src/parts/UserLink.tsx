import { Anchor } from "@mantine/core";
import { Link } from "wouter";

/** A user's id that opens the user's page. */
export function UserLink({ id }: { id: string }) {
  return (
    <Anchor component={Link} href={`/users/${encodeURIComponent(id)}`} inherit>
      {id}
    </Anchor>
  );
}
