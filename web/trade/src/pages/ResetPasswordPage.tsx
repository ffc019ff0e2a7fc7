import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { PasswordField } from "#lib/components/PasswordField.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { returned, useExchange } from "../api/client.ts";
import { explain } from "../api/messages.ts";
import { AuthLayout } from "../parts/AuthLayout.tsx";
import { passwordFault, passwordRule, tokenOfAddress } from "../parts/credentials.ts";
import { PageLink } from "../parts/PageLink.tsx";

/** Sets a new password with the token of a mail; every session ends. */
export default function ResetPasswordPage() {
  const { rest } = useExchange();
  const [token, setToken] = useState(tokenOfAddress);
  const [password, setPassword] = useState("");
  const [showsFaults, setShowsFaults] = useState(false);
  const fault = passwordFault(password);
  const reset = useMutation({
    mutationFn: () =>
      returned(
        rest.POST("/api/v1/auth/reset-password", { body: { token: token.trim(), newPassword: password } }),
      ),
  });
  return (
    <AuthLayout title={t("Choose a new password")} footer={<PageLink href="/login">{t("Log in")}</PageLink>}>
      {reset.isSuccess ? (
        <p role="status">{t("The new password is set, and every session has ended. Log in with it.")}</p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            setShowsFaults(true);
            if (token.trim() !== "" && !fault && !reset.isPending) reset.mutate();
          }}
        >
          <Stack gap="md">
            {reset.error && <ProblemNote problem={explain(reset.error)} />}
            <TextInput
              label={t("Token of the mail")}
              description={t(
                "The mail has it, as a link to this page or as text to copy. It works once, within 30 minutes.",
              )}
              value={token}
              autoComplete="off"
              spellCheck={false}
              maxLength={256}
              onChange={(event) => setToken(event.currentTarget.value)}
            />
            <PasswordField
              label={t("New password")}
              description={passwordRule()}
              value={password}
              error={showsFaults ? fault : null}
              autoComplete="new-password"
              maxLength={128}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
            <Button
              type="submit"
              size="md"
              fullWidth
              loading={reset.isPending}
              disabled={token.trim() === ""}
            >
              {t("Set the password")}
            </Button>
          </Stack>
        </form>
      )}
    </AuthLayout>
  );
}
