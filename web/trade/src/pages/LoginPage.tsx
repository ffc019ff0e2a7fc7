import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { PasswordField } from "#lib/components/PasswordField.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { several, t } from "#lib/language.ts";
import { useNow } from "#lib/useNow.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { RefusedError } from "../api/errors.ts";
import { beginSession, type Ending, useSession } from "../api/session.ts";
import { explain } from "../api/messages.ts";
import { AuthLayout } from "../parts/AuthLayout.tsx";
import { PageLink } from "../parts/PageLink.tsx";

const ENDINGS: Readonly<Record<Ending, string>> = {
  get logout() {
    return t("You are logged out, in every tab. Your orders stay in the book.");
  },
  get unconfirmed() {
    return t(
      "You are logged out here, but the exchange did not confirm it. Log in and end your other sessions if this computer is not yours.",
    );
  },
  get expired() {
    return t("Your session has ended. Log in again: the page that you were on opens afterwards.");
  },
  get elsewhere() {
    return t("You logged out in another tab.");
  },
  get deleted() {
    return t("Your account is deleted.");
  },
};

/** Email and password, and the two-factor authentication code where the account asks for one. */
export default function LoginPage() {
  const { ending } = useSession();
  const [challenge, setChallenge] = useState<Schemas["ChallengeResponse"] | null>(null);
  const [email, setEmail] = useState("");
  return challenge ? (
    <CodeStep challenge={challenge} email={email} onBack={() => setChallenge(null)} />
  ) : (
    <PasswordStep ending={ending} email={email} onEmail={setEmail} onChallenge={setChallenge} />
  );
}

function PasswordStep({
  ending,
  email,
  onEmail,
  onChallenge,
}: {
  ending: Ending | null;
  email: string;
  onEmail: (email: string) => void;
  onChallenge: (challenge: Schemas["ChallengeResponse"]) => void;
}) {
  const { rest } = useExchange();
  const [password, setPassword] = useState("");
  const wait = useWait();
  const login = useMutation({
    mutationFn: () => returned(rest.POST("/api/v1/auth/login", { body: { email: email.trim(), password } })),
    onSuccess: (found) => {
      if ("mfaRequired" in found) onChallenge(found);
      else beginSession(found, email.trim());
    },
    onError: (error) => {
      setPassword("");
      wait.begin(error);
    },
  });
  const isReady = email.trim() !== "" && password !== "" && wait.seconds === 0;
  return (
    <AuthLayout
      title={t("Log in")}
      footer={
        <>
          <PageLink href={`/register${window.location.search}`}>{t("Create an account")}</PageLink>
          <PageLink href="/forgot-password">{t("Forgot your password?")}</PageLink>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !login.isPending) login.mutate();
        }}
      >
        <Stack gap="md">
          {ending && !login.error && <WarningNote>{ENDINGS[ending]}</WarningNote>}
          {login.error && <ProblemNote problem={explain(login.error)} />}
          <TextInput
            label={t("Email")}
            type="email"
            value={email}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            onChange={(event) => onEmail(event.currentTarget.value)}
          />
          <PasswordField
            label={t("Password")}
            value={password}
            autoComplete="current-password"
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Button type="submit" size="md" fullWidth loading={login.isPending} disabled={!isReady}>
            {wait.seconds > 0
              ? several(wait.seconds, "Try again in {count} second", "Try again in {count} seconds")
              : t("Log in")}
          </Button>
        </Stack>
      </form>
    </AuthLayout>
  );
}

function CodeStep({
  challenge,
  email,
  onBack,
}: {
  challenge: Schemas["ChallengeResponse"];
  email: string;
  onBack: () => void;
}) {
  const { rest } = useExchange();
  const [code, setCode] = useState("");
  const wait = useWait();
  const login = useMutation({
    mutationFn: () =>
      returned(
        rest.POST("/api/v1/auth/login/mfa", {
          body: { challengeToken: challenge.challengeToken, code: code.trim() },
        }),
      ),
    onSuccess: (tokens) => beginSession(tokens, email.trim()),
    onError: (error) => {
      setCode("");
      wait.begin(error);
    },
  });
  const isReady = code.trim().length >= 6 && wait.seconds === 0;
  return (
    <AuthLayout title={t("Enter your code")} text={email}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !login.isPending) login.mutate();
        }}
      >
        <Stack gap="md">
          {login.error && <ProblemNote problem={explain(login.error)} />}
          <TextInput
            label={t("Code")}
            description={t("The six digits of your authenticator app, or one of your recovery codes.")}
            value={code}
            autoComplete="one-time-code"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={40}
            autoFocus
            classNames={{ input: "figures" }}
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          <Button type="submit" size="md" fullWidth loading={login.isPending} disabled={!isReady}>
            {wait.seconds > 0
              ? several(wait.seconds, "Try again in {count} second", "Try again in {count} seconds")
              : t("Log in")}
          </Button>
          <Button variant="default" onClick={onBack}>
            {t("Back to the password")}
          </Button>
        </Stack>
      </form>
    </AuthLayout>
  );
}

/** Says how long the edge refuses further tries. */
function useWait(): { seconds: number; begin: (error: unknown) => void } {
  const [until, setUntil] = useState(0);
  const now = useNow(1000);
  return {
    seconds: Math.max(0, Math.ceil((until - now) / 1000)),
    begin: (error) => {
      const seconds = error instanceof RefusedError ? (error.retryAfter ?? 0) : 0;
      // `now` is up to a second old: without a wait there is none, not even that second.
      setUntil(seconds === 0 ? 0 : Date.now() + seconds * 1000);
    },
  };
}
