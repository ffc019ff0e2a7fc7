import { AccountMenu as Account } from "#lib/components/AccountMenu.tsx";
import { useQueryClient } from "@tanstack/react-query";
import { returned, useExchange } from "../api/client.ts";
import { OF_ONE_USER } from "../api/queries.ts";
import { endSession, leaveSession, type Session } from "../api/session.ts";

/** The user who is logged in, and the way out. */
export function AccountMenu({ session }: { session: Session }) {
  const { rest, freshToken } = useExchange();
  const client = useQueryClient();
  const logout = async () => {
    await freshToken().catch(() => null);
    // The edge ends the session before its response arrives: what is asked in between would be refused.
    leaveSession();
    await client.cancelQueries(OF_ONE_USER);
    const isConfirmed = await returned(rest.POST("/api/v1/auth/logout")).then(
      () => true,
      () => false,
    );
    endSession(isConfirmed ? "logout" : "unconfirmed");
  };
  return (
    <Account name={session.email} onLogout={logout}>
      <strong>{session.email}</strong>
      <span>{session.userId}</span>
    </Account>
  );
}
