import { Button, Stack } from "@mantine/core";
import { ClockIcon } from "@primer/octicons-react";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Dialog } from "#lib/components/Dialog.tsx";
import { NoticeBar } from "#lib/components/NoticeBar.tsx";
import { PasswordField } from "#lib/components/PasswordField.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDuration } from "#lib/counts.ts";
import { useZone } from "#lib/preferences.ts";
import { formatClock } from "#lib/time.ts";
import { useNow } from "#lib/useNow.ts";
import { useEngine } from "../engine/engine.ts";
import { beginSession, endSession, type Session } from "../engine/session.ts";
import { explain } from "../engine/messages.ts";

const WARNED_BEFORE_MS = 5 * 60_000;

/** Warns before the session ends by its time, offers to go on, and ends it when its time has come. */
export function SessionNotice({ session }: { session: Session }) {
  const now = useNow(1000);
  const zone = useZone();
  const [asks, setAsks] = useState(false);
  const left = session.expiresAt - now;
  useEffect(() => {
    if (left <= 0) endSession(session.token, "expired");
  }, [left, session.token]);
  if (left > WARNED_BEFORE_MS) return null;
  return (
    <NoticeBar icon={ClockIcon}>
      <p role="status">Your session ends at {formatClock(session.expiresAt, zone)}.</p>
      <span className="figures" aria-hidden>
        {formatDuration(left)} left
      </span>
      <Button size="xs" variant="default" onClick={() => setAsks(true)}>
        Stay logged in
      </Button>
      {asks && <Renewal session={session} onClose={() => setAsks(false)} />}
    </NoticeBar>
  );
}

/** A new session in place of the old one, without leaving the page. */
function Renewal({ session, onClose }: { session: Session; onClose: () => void }) {
  const engine = useEngine();
  const [password, setPassword] = useState("");
  const renewal = useMutation({
    mutationFn: () => engine.login(session.participantId, password),
    onSuccess: (renewed) => {
      beginSession(renewed);
      // The old token would end by itself soon; ending it now is a courtesy that may fail.
      void engine.logout(session.token).catch(() => undefined);
      toastDone("You stay logged in");
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title="Stay logged in" closeButtonProps={{ "aria-label": "Close" }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          renewal.mutate();
        }}
      >
        <Stack gap="md">
          <PasswordField
            label={`Password of ${session.participantId}`}
            value={password}
            autoComplete="current-password"
            data-autofocus
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          {renewal.error && <ProblemNote problem={explain(renewal.error)} />}
          <Button type="submit" loading={renewal.isPending} disabled={password === ""}>
            Go on
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}
