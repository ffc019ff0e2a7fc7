import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { PasswordField } from "#lib/components/PasswordField.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { rich, t } from "#lib/language.ts";
import { returned, useExchange } from "../api/client.ts";
import { RefusedError } from "../api/errors.ts";
import { fieldReason } from "../api/fieldReason.ts";
import { beginSession } from "../api/session.ts";
import { explain } from "../api/messages.ts";
import { AuthLayout } from "../parts/AuthLayout.tsx";
import { emailFault, passwordFault, passwordRule } from "../parts/credentials.ts";
import { LegalNote } from "../parts/LegalNote.tsx";
import { PageLink } from "../parts/PageLink.tsx";

/** A new account. A taken address looks like a free one; its owner gets a mail. */
export default function RegisterPage() {
  const { rest } = useExchange();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [showsFaults, setShowsFaults] = useState(false);
  const [isTaken, setTaken] = useState(false);
  const registration = useMutation({
    mutationFn: async () => {
      const body = { email: email.trim(), password };
      await returned(rest.POST("/api/v1/auth/register", { body }));
      const login = await returned(rest.POST("/api/v1/auth/login", { body })).catch((error: unknown) => {
        if (error instanceof RefusedError && error.status === 401) return null;
        throw error;
      });
      // No session: the address has an account already, with another password or two-factor authentication.
      if (login && "accessToken" in login) beginSession(login, email.trim());
      else setTaken(true);
    },
  });
  const faults = {
    email: emailFault(email.trim()),
    password: passwordFault(password),
    again: again === password ? null : t("The two passwords differ."),
  };
  const faultOf = (field: "email" | "password") =>
    (showsFaults ? faults[field] : null) ?? fieldReason(registration.error, field);
  if (isTaken) {
    return (
      <AuthLayout title={t("Check your mail")} footer={<PageLink href="/login">{t("Log in")}</PageLink>}>
        <WarningNote>
          {rich(
            "We have sent a mail to {email}. It says how to go on. If you have an account already, log in with it.",
            { email: <strong>{email.trim()}</strong> },
          )}
        </WarningNote>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout
      title={t("Create an account")}
      footer={
        <span>
          {rich("Already have an account? {link}", {
            link: <PageLink href={`/login${window.location.search}`}>{t("Log in")}</PageLink>,
          })}
        </span>
      }
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setShowsFaults(true);
          if (!Object.values(faults).some(Boolean) && !registration.isPending) registration.mutate();
        }}
      >
        <Stack gap="md">
          {registration.error && <ProblemNote problem={explain(registration.error)} />}
          <TextInput
            label={t("Email")}
            type="email"
            value={email}
            error={faultOf("email")}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={254}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <PasswordField
            label={t("Password")}
            description={passwordRule()}
            value={password}
            error={faultOf("password")}
            autoComplete="new-password"
            maxLength={128}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <PasswordField
            label={t("Password again")}
            value={again}
            error={showsFaults ? faults.again : null}
            autoComplete="new-password"
            maxLength={128}
            onChange={(event) => setAgain(event.currentTarget.value)}
          />
          <LegalNote />
          <Button type="submit" size="md" fullWidth loading={registration.isPending}>
            {t("Create the account")}
          </Button>
        </Stack>
      </form>
    </AuthLayout>
  );
}
