import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { PasswordField } from "#lib/components/PasswordField.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { returned, useExchange } from "../api/client.ts";
import { explain } from "../api/messages.ts";
import { OF_ONE_USER } from "../api/queries.ts";
import { endSession } from "../api/session.ts";
import { useSecondFactor } from "./secondFactor.tsx";

/** Deletes the account, after the password, a code where the account has one, and the typed address. */
export function DeleteAccountDialog({ email, onClose }: { email: string; onClose: () => void }) {
  const { rest } = useExchange();
  const client = useQueryClient();
  const [password, setPassword] = useState("");
  const deletion = useMutation({
    mutationFn: () => returned(rest.DELETE("/api/v1/users/me", { body: { password, ...factor.body } })),
    onSuccess: () => {
      endSession("deleted");
      void client.cancelQueries(OF_ONE_USER);
    },
    onError: () => factor.clear(),
  });
  const factor = useSecondFactor(deletion.error);
  return (
    <ConfirmDialog
      title={t("Delete your account?")}
      typed={email}
      operator=""
      confirm={t("Delete the account")}
      danger
      isBusy={deletion.isPending}
      problem={deletion.error ? explain(deletion.error) : null}
      missing={[password === "" && t("enter your password"), factor.isMissing && t("enter the code")]}
      onConfirm={() => deletion.mutate()}
      onClose={onClose}
    >
      <WarningNote>
        {t(
          "It cannot be undone. Cancel your orders and withdraw your balances first. Orders and bookings stay in the exchange's records, without your name.",
        )}
      </WarningNote>
      <PasswordField
        label={t("Your password")}
        value={password}
        autoComplete="current-password"
        data-autofocus
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {factor.field}
    </ConfirmDialog>
  );
}
