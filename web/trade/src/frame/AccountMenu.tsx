import { AccountMenu as Account } from "#lib/components/AccountMenu.tsx";
import { returned, useExchange } from "../api/client.ts";
import { endSession, type Session } from "../api/session.ts";

/** The user who is logged in, and the way out. */
export function AccountMenu({ session }: { session: Session }) {
  const { rest } = useExchange();
  const logout = async () => {
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
