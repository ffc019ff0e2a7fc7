import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ProblemNote } from "#lib/components/states.tsx";
import { rich, t } from "#lib/language.ts";
import { returned, useExchange } from "../api/client.ts";
import { explain } from "../api/messages.ts";
import { AuthLayout } from "../parts/AuthLayout.tsx";
import { emailFault } from "../parts/credentials.ts";
import { PageLink } from "../parts/PageLink.tsx";

/** Asks for a mail with which a new password can be set. */
export default function ForgotPasswordPage() {
  const { rest } = useExchange();
  const [email, setEmail] = useState("");
  const request = useMutation({
    mutationFn: () => returned(rest.POST("/api/v1/auth/forgot-password", { body: { email: email.trim() } })),
  });
  const isReady = emailFault(email.trim()) === null;
  return (
    <AuthLayout
      title={t("Forgot your password?")}
      text={t("We send you a mail with which you can choose a new one.")}
      footer={
        <>
          <PageLink href="/login">{t("Log in")}</PageLink>
          <PageLink href="/reset-password">{t("I have a token")}</PageLink>
        </>
      }
    >
      {request.isSuccess ? (
        <p role="status">
          {rich("If {email} has an account, a mail is on its way. Its token works for 30 minutes.", {
            email: <strong>{email.trim()}</strong>,
          })}
        </p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady && !request.isPending) request.mutate();
          }}
        >
          <Stack gap="md">
            {request.error && <ProblemNote problem={explain(request.error)} />}
            <TextInput
              label={t("Email")}
              type="email"
              value={email}
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={254}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <Button type="submit" size="md" fullWidth loading={request.isPending} disabled={!isReady}>
              {t("Send the mail")}
            </Button>
          </Stack>
        </form>
      )}
    </AuthLayout>
  );
}
