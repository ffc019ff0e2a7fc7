import { AccountMenu as Account } from "#lib/components/AccountMenu.tsx";
import { useZone } from "#lib/preferences.ts";
import { formatTime } from "#lib/time.ts";
import { useEngine } from "../engine/engine.ts";
import { endSession, type Session } from "../engine/session.ts";

/** The operator who is logged in, until when, and the way out. */
export function AccountMenu({ session }: { session: Session }) {
  const engine = useEngine();
  const zone = useZone();
  const logout = async () => {
    const isConfirmed = await engine.logout(session.token).then(
      () => true,
      () => false,
    );
    endSession(session.token, isConfirmed ? "logout" : "unconfirmed");
  };
  return (
    <Account name={session.participantId} onLogout={logout}>
      <strong>{session.name}</strong>
      <span>{session.type}</span>
      <span className="figures">until {formatTime(session.expiresAt, zone)}</span>
    </Account>
  );
}
