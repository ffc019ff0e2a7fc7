import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "#lib/components/Dialog.tsx";
import { PasswordField } from "#lib/components/PasswordField.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { t } from "#lib/language.ts";
import { returned, useExchange } from "../api/client.ts";
import { explain } from "../api/messages.ts";
import { passwordFault, passwordRule } from "../parts/credentials.ts";
import { ACTIVITY, SESSIONS } from "./queries.ts";

/** The old password, the new one, and a code where the account has two-factor authentication. */
export function PasswordDialog({ asksCode, onClose }: { asksCode: boolean; onClose: () => void }) {
  const { rest } = useExchange();
  const client = useQueryClient();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [code, setCode] = useState("");
  const [showsFaults, setShowsFaults] = useState(false);
  const fault = passwordFault(next);
  const change = useMutation({
    mutationFn: () =>
      returned(
        rest.POST("/api/v1/users/me/password", {
          body: {
            currentPassword: current,
            newPassword: next,
            ...(asksCode ? { mfaCode: code.trim() } : {}),
          },
        }),
      ),
    onSuccess: () => {
      for (const queryKey of [SESSIONS, ACTIVITY]) void client.invalidateQueries({ queryKey });
      toastDone(t("The new password is set"), t("Your other sessions have ended."));
      onClose();
    },
  });
  const isReady = current !== "" && (!asksCode || code.trim().length >= 6);
  return (
    <Dialog
      onClose={onClose}
      title={t("Change the password")}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setShowsFaults(true);
          if (isReady && fault === null && !change.isPending) change.mutate();
        }}
      >
        <Stack gap="md">
          {change.error && <ProblemNote problem={explain(change.error)} />}
          <PasswordField
            label={t("Present password")}
            value={current}
            autoComplete="current-password"
            data-autofocus
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
          <PasswordField
            label={t("New password")}
            description={passwordRule()}
            value={next}
            error={showsFaults ? fault : null}
            autoComplete="new-password"
            maxLength={128}
            onChange={(event) => setNext(event.currentTarget.value)}
          />
          {asksCode && (
            <TextInput
              label={t("Two-factor authentication code")}
              description={t("Of your app, or one of your recovery codes.")}
              value={code}
              autoComplete="one-time-code"
              maxLength={40}
              onChange={(event) => setCode(event.currentTarget.value)}
            />
          )}
          <Button type="submit" loading={change.isPending} disabled={!isReady}>
            {t("Change it")}
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}
