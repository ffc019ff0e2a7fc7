import { Button, Stack, TextInput, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { PasswordField } from "#lib/components/PasswordField.tsx";
import { useBrand } from "#lib/brand.ts";
import { FormLayout } from "#lib/components/FormLayout.tsx";
import { Logo } from "#lib/components/Logo.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { plural } from "#lib/counts.ts";
import { useWindowTitle } from "#lib/pageTitle.ts";
import { useNow } from "#lib/useNow.ts";
import { useEngine } from "../engine/engine.ts";
import { beginSession, type Ending, type Session, useSession } from "../engine/session.ts";
import { explain, secondsToWait } from "../engine/messages.ts";
import { type Challenge, useEdge } from "../operator/client.ts";
import { keepUserSession, type UserEnding, type UserSession, useUserSession } from "../operator/session.ts";

const ENDINGS: Record<Ending, string> = {
  logout: "You are logged out. The engine takes your token no more.",
  unconfirmed:
    "You are logged out here, but the engine did not confirm it: your token works until its time is over. Log in and out again to end it.",
  expired: "Your session has expired. Log in again: the page that you were on opens afterwards.",
  refused: "The engine ended your session. Log in again: the page that you were on opens afterwards.",
};

const USER_ENDINGS: Record<UserEnding, string> = {
  logout: "You are logged out.",
  unconfirmed:
    "You are logged out here, but the exchange did not confirm it: the session can go on elsewhere. Log in and end it in the list of sessions.",
  refused: "Your session has ended. Log in again: the page that you were on opens afterwards.",
  demoted: "You are no operator any more. Ask an administrator.",
};

/** The login, shown at every address while there is no session. */
export function LoginPage() {
  const { session, ending } = useSession();
  const user = useUserSession();
  const [challenge, setChallenge] = useState<Challenge | null>(null);
  const [location, navigate] = useLocation();
  const engine = useEngine();
  const { name } = useBrand();
  useWindowTitle("Log in");
  const isSecond = session !== null || user.session !== null;
  const reason = isSecond
    ? null
    : ((ending && ENDINGS[ending]) ?? (user.ending && USER_ENDINGS[user.ending]));
  // Everywhere else the page that was asked for opens by itself.
  const done = () => {
    if (location === "/login") navigate("/", { replace: true });
  };
  return (
    <FormLayout
      mark={<Logo size={40} />}
      heading={<Title order={1}>{name} console</Title>}
      text={isSecond ? "A second session for this tab" : "Administration of the exchange"}
      footer={`For participants of type SUPER_ADMIN and SYSTEM, and for operators by e-mail address. Engine at ${engine.url}`}
    >
      {challenge === null ? (
        <PasswordForm reason={reason ?? null} onChallenge={setChallenge} onDone={done} />
      ) : (
        <CodeForm challenge={challenge} onBack={() => setChallenge(null)} onDone={done} />
      )}
      {isSecond && (
        <Button variant="default" fullWidth mt="sm" onClick={() => navigate("/")}>
          Cancel
        </Button>
      )}
    </FormLayout>
  );
}

interface PasswordFormProps {
  /** Why the last session ended. */
  reason: string | null;
  onChallenge: (challenge: Challenge) => void;
  onDone: () => void;
}

type Outcome = { engine: Session } | { user: UserSession } | { challenge: Challenge };

/** A participant id logs in at the engine, an e-mail address at the REST edge. */
function PasswordForm({ reason, onChallenge, onDone }: PasswordFormProps) {
  const engine = useEngine();
  const edge = useEdge();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  /** Until then no login is taken. */
  const [barredUntil, setBarredUntil] = useState(0);
  const now = useNow(1000);
  const login = useMutation({
    async mutationFn(): Promise<Outcome> {
      const given = name.trim();
      if (!given.includes("@")) return { engine: await engine.login(given, password) };
      const found = await edge.login(given, password);
      return "challengeToken" in found ? { challenge: found } : { user: found };
    },
    onSuccess(outcome) {
      if ("challenge" in outcome) {
        onChallenge(outcome.challenge);
        return;
      }
      if ("user" in outcome) keepUserSession(outcome.user);
      else if (outcome.engine.expiresAt > Date.now()) beginSession(outcome.engine);
      else {
        throw new Error(
          "the new session has expired already: this computer's clock is ahead of the engine's. Set the clock.",
        );
      }
      onDone();
    },
    onError(error) {
      setPassword("");
      setBarredUntil(Date.now() + secondsToWait(error) * 1000);
    },
  });
  const wait = Math.max(0, Math.ceil((barredUntil - now) / 1000));
  const isReady = name.trim() !== "" && password !== "";
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && wait === 0 && !login.isPending) login.mutate();
      }}
    >
      <Stack gap="md">
        {reason && !login.error && <WarningNote>{reason}</WarningNote>}
        {login.error && <ProblemNote problem={explain(login.error)} />}
        <TextInput
          label="Participant id or e-mail address"
          value={name}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <PasswordField
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
  );
}

interface CodeFormProps {
  challenge: Challenge;
  onBack: () => void;
  onDone: () => void;
}

/** The second step of a user's login. */
function CodeForm({ challenge, onBack, onDone }: CodeFormProps) {
  const edge = useEdge();
  const [code, setCode] = useState("");
  const login = useMutation({
    mutationFn: () => edge.sendCode(challenge, code.trim()),
    onSuccess(session) {
      keepUserSession(session);
      onDone();
    },
    onError: () => setCode(""),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (code.trim() !== "" && !login.isPending) login.mutate();
      }}
    >
      <Stack gap="md">
        {login.error && <ProblemNote problem={explain(login.error)} />}
        <TextInput
          label="Code"
          description={`Of the authenticator app of ${challenge.email}, or a recovery code.`}
          value={code}
          autoComplete="one-time-code"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <Button type="submit" size="md" fullWidth loading={login.isPending} disabled={code.trim() === ""}>
          Log in
        </Button>
        <Button variant="default" fullWidth onClick={onBack}>
          Back
        </Button>
      </Stack>
    </form>
  );
}
