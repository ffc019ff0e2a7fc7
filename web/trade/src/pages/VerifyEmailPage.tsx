import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ProblemNote } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { returned, useExchange } from "../api/client.ts";
import { useSession } from "../api/session.ts";
import { explain } from "../api/messages.ts";
import { AuthLayout } from "../parts/AuthLayout.tsx";
import { tokenOfAddress } from "../parts/credentials.ts";
import { PageLink } from "../parts/PageLink.tsx";

/** Confirms an email address with the token of the first mail. */
export default function VerifyEmailPage() {
  const { rest } = useExchange();
  const client = useQueryClient();
  const { session } = useSession();
  const [token, setToken] = useState(tokenOfAddress);
  const confirmation = useMutation({
    mutationFn: () => returned(rest.POST("/api/v1/auth/verify-email", { body: { token: token.trim() } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["profile"] }),
  });
  const onward = session ? (
    <PageLink href="/">{t("Go to the markets")}</PageLink>
  ) : (
    <PageLink href="/login">{t("Log in")}</PageLink>
  );
  if (confirmation.isSuccess) {
    return (
      <AuthLayout title={t("Your address is confirmed")} footer={onward}>
        <p role="status">{t("Thank you. Mails about your account reach you there.")}</p>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title={t("Confirm your email address")} footer={onward}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim() !== "" && !confirmation.isPending) confirmation.mutate();
        }}
      >
        <Stack gap="md">
          {confirmation.error && <ProblemNote problem={explain(confirmation.error)} />}
          <TextInput
            label={t("Token of the mail")}
            description={t(
              "The mail has it, as a link to this page or as text to copy. It works once, within 24 hours.",
            )}
            value={token}
            autoComplete="off"
            spellCheck={false}
            maxLength={256}
            onChange={(event) => setToken(event.currentTarget.value)}
          />
          <Button
            type="submit"
            size="md"
            fullWidth
            loading={confirmation.isPending}
            disabled={token.trim() === ""}
          >
            {t("Confirm")}
          </Button>
        </Stack>
      </form>
    </AuthLayout>
  );
}
