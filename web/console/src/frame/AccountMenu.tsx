import { Menu } from "@mantine/core";
import { SignInIcon } from "@primer/octicons-react";
import { Link } from "wouter";
import { AccountMenu as Account } from "#lib/components/AccountMenu.tsx";
import { useZone } from "#lib/preferences.ts";
import { formatTime } from "#lib/time.ts";
import { useEngine } from "../engine/engine.ts";
import { endSession, useSession } from "../engine/session.ts";
import { useEdge } from "../operator/client.ts";
import { endUserSession, useUserSession } from "../operator/session.ts";

const confirmed = (call: Promise<void>) =>
  call.then(
    () => true,
    () => false,
  );

/** The operator who is logged in, with either session, until when, and the way out of both. */
export function AccountMenu() {
  const engine = useEngine();
  const edge = useEdge();
  const zone = useZone();
  const { session } = useSession();
  const user = useUserSession().session;
  const logout = async () => {
    const [ofEngine, ofEdge] = await Promise.all([
      session === null ? true : confirmed(engine.logout(session.token)),
      user === null ? true : confirmed(edge.logout(user)),
    ]);
    if (user !== null) endUserSession(user.refreshToken, ofEdge ? "logout" : "unconfirmed");
    if (session !== null) endSession(session.token, ofEngine ? "logout" : "unconfirmed");
  };
  const lacking = session === null ? "Log in to the engine too" : user === null ? "Log in as a user too" : "";
  const further = lacking && (
    <Menu.Item component={Link} href="/login" leftSection={<SignInIcon />}>
      {lacking}
    </Menu.Item>
  );
  return (
    <Account name={user?.email ?? session?.participantId ?? ""} further={further} onLogout={logout}>
      {user && (
        <>
          <strong>{user.email}</strong>
          <span>{user.roles.join(", ")}</span>
        </>
      )}
      {session && (
        <>
          <strong>{session.name}</strong>
          <span>{session.type}</span>
          <span className="figures">until {formatTime(session.expiresAt, zone)}</span>
        </>
      )}
    </Account>
  );
}
