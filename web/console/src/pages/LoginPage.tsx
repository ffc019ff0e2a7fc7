import { Button, PasswordInput, Stack, TextInput, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useBrand } from "#lib/brand.ts";
import { FormLayout } from "#lib/components/FormLayout.tsx";
import { Logo } from "#lib/components/Logo.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { plural } from "#lib/counts.ts";
import { useWindowTitle } from "#lib/pageTitle.ts";
import { useNow } from "#lib/useNow.ts";
import { useEngine } from "../engine/engine.ts";
import { beginSession, type Ending } from "../engine/session.ts";
import { explain, secondsToWait } from "../engine/messages.ts";

const ENDINGS: Record<Ending, string> = {
  logout: "You are logged out. The engine takes your token no more.",
  unconfirmed:
    "You are logged out here, but the engine did not confirm it: your token works until its time is over. Log in and out again to end it.",
  expired: "Your session has expired. Log in again: the page that you were on opens afterwards.",
  refused: "The engine ended your session. Log in again: the page that you were on opens afterwards.",
};

/** The login, shown at every address while there is no session. */
export function LoginPage({ ending }: { ending: Ending | null }) {
  const engine = useEngine();
  const { name } = useBrand();
  const [participantId, setParticipantId] = useState("");
  const [password, setPassword] = useState("");
  /** Until then the engine takes no login. */
  const [barredUntil, setBarredUntil] = useState(0);
  const now = useNow(1000);
  const login = useMutation({
    mutationFn: () => engine.login(participantId.trim(), password),
    onSuccess: (session) => {
      if (session.expiresAt <= Date.now()) {
        throw new Error(
          "the new session has expired already: this computer's clock is ahead of the engine's. Set the clock.",
        );
      }
      beginSession(session);
    },
    onError: (error) => {
      setPassword("");
      setBarredUntil(Date.now() + secondsToWait(error) * 1000);
    },
  });
  useWindowTitle("Log in");
  const wait = Math.max(0, Math.ceil((barredUntil - now) / 1000));
  const isReady = participantId.trim() !== "" && password !== "";
  return (
    <FormLayout
      mark={<Logo size={40} />}
      heading={<Title order={1}>{name} console</Title>}
      text="Administration of the matching engine"
      footer={`For participants of type SUPER_ADMIN and SYSTEM. Engine at ${engine.url}`}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && wait === 0 && !login.isPending) login.mutate();
        }}
      >
        <Stack gap="md">
          {ending && !login.error && <WarningNote>{ENDINGS[ending]}</WarningNote>}
          {login.error && <ProblemNote problem={explain(login.error)} />}
          <TextInput
            label="Participant id"
            value={participantId}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            onChange={(event) => setParticipantId(event.currentTarget.value)}
          />
          <PasswordInput
            label="Password"
            value={password}
            autoComplete="current-password"
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Button type="submit" size="md" fullWidth loading={login.isPending} disabled={!isReady || wait > 0}>
            {wait > 0 ? `Try again in ${plural(wait, "second")}` : "Log in"}
          </Button>
        </Stack>
      </form>
    </FormLayout>
  );
}
