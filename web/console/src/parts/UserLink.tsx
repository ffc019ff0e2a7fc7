import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { useCan } from "../operator/session.ts";
import { ownerOf } from "../people/trading.ts";

/** A user's id that opens the user's page. */
export function UserLink({ id }: { id: string }) {
  return <LinkTo id={id}>{id}</LinkTo>;
}

function LinkTo({ id, children }: { id: string; children: string }) {
  return (
    <Anchor component={Link} href={`/users/${encodeURIComponent(id)}`} inherit>
      {children}
    </Anchor>
  );
}

/** An account that opens the page of its user, for whoever may read it. */
export function AccountLink({ id }: { id: string }) {
  const can = useCan();
  const owner = ownerOf(id);
  return owner !== null && can("users.read") ? <LinkTo id={owner}>{id}</LinkTo> : id;
}
