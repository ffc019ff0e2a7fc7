import { Button, Skeleton, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { CopyText } from "#lib/components/CopyText.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { PasswordField } from "#lib/components/PasswordField.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explain } from "../api/messages.ts";
import classes from "./MfaDialogs.module.css";
import { PROFILE } from "./profile.ts";
import { ACTIVITY, MFA } from "./queries.ts";
import { RecoveryCodes } from "./RecoveryCodes.tsx";

const QrCode = late(() => import("../parts/QrCode.tsx"), {
  waiting: () => <Skeleton width={168} height={168} />,
});

function useRefresh(): () => void {
  const client = useQueryClient();
  return () => {
    for (const queryKey of [MFA, PROFILE, ACTIVITY]) void client.invalidateQueries({ queryKey });
  };
}

/** Three steps: the password, the app with its first code, the recovery codes. */
export function EnableMfaDialog({ onClose }: { onClose: () => void }) {
  const { rest } = useExchange();
  const refresh = useRefresh();
  const [setup, setSetup] = useState<Schemas["MfaSetupResponse"] | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [asks, setAsks] = useState(false);
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const begin = useMutation({
    mutationFn: () => returned(rest.POST("/api/v1/users/me/mfa/setup", { body: { password } })),
    onSuccess: setSetup,
    onError: () => setPassword(""),
  });
  const enable = useMutation({
    mutationFn: () => returned(rest.POST("/api/v1/users/me/mfa/enable", { body: { code: code.trim() } })),
    onSuccess: ({ recoveryCodes }) => {
      setCodes(recoveryCodes);
      refresh();
    },
    onError: () => setCode(""),
  });
  const title = codes ? t("Keep your recovery codes") : t("Set up two-factor authentication");
  return (
    <Dialog
      onClose={codes ? () => setAsks(true) : onClose}
      title={title}
      closeOnClickOutside={codes === null}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      {codes ? (
        <RecoveryCodes codes={codes} asks={asks} onBack={() => setAsks(false)} onClose={onClose} />
      ) : setup ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (code.trim().length >= 6 && !enable.isPending) enable.mutate();
          }}
        >
          <Stack gap="md">
            <p className={classes.text}>
              {t("Scan this with your authenticator app, or type the secret into it.")}
            </p>
            <div className={classes.scan}>
              <QrCode text={setup.otpauthUri} label={t("QR code for your authenticator app")} />
              <CopyText text={setup.secret} name={t("secret")} />
            </div>
            {enable.error && <ProblemNote problem={explain(enable.error)} />}
            <TextInput
              label={t("Code of the app")}
              value={code}
              inputMode="numeric"
              autoComplete="one-time-code"
              maxLength={8}
              data-autofocus
              onChange={(event) => setCode(event.currentTarget.value)}
            />
            <Button type="submit" loading={enable.isPending} disabled={code.trim().length < 6}>
              {t("Switch it on")}
            </Button>
          </Stack>
        </form>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (password !== "" && !begin.isPending) begin.mutate();
          }}
        >
          <Stack gap="md">
            {begin.error && <ProblemNote problem={explain(begin.error)} />}
            <PasswordField
              label={t("Your password")}
              value={password}
              autoComplete="current-password"
              data-autofocus
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
            <Button type="submit" loading={begin.isPending} disabled={password === ""}>
              {t("Go on")}
            </Button>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

/** Asks for the password and a code. */
export function DisableMfaDialog({ onClose }: { onClose: () => void }) {
  const { rest } = useExchange();
  const refresh = useRefresh();
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const disable = useMutation({
    mutationFn: () =>
      returned(rest.POST("/api/v1/users/me/mfa/disable", { body: { password, code: code.trim() } })),
    onSuccess: () => {
      refresh();
      toastDone(t("Two-factor authentication is off"));
      onClose();
    },
  });
  const isReady = password !== "" && code.trim().length >= 6;
  return (
    <Dialog
      onClose={onClose}
      title={t("Switch two-factor authentication off?")}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !disable.isPending) disable.mutate();
        }}
      >
        <Stack gap="md">
          <WarningNote>{t("Your password alone will open the account then.")}</WarningNote>
          {disable.error && <ProblemNote problem={explain(disable.error)} />}
          <PasswordField
            label={t("Your password")}
            value={password}
            autoComplete="current-password"
            data-autofocus
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <TextInput
            label={t("Two-factor authentication code")}
            description={t("Of your app, or one of your recovery codes.")}
            value={code}
            autoComplete="one-time-code"
            maxLength={40}
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          <Button type="submit" color="red" loading={disable.isPending} disabled={!isReady}>
            {t("Switch it off")}
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Replaces the recovery codes, with a code; the earlier ones end. */
export function RenewCodesDialog({ onClose }: { onClose: () => void }) {
  const { rest } = useExchange();
  const refresh = useRefresh();
  const [code, setCode] = useState("");
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [asks, setAsks] = useState(false);
  const renew = useMutation({
    mutationFn: () =>
      returned(rest.POST("/api/v1/users/me/mfa/recovery-codes", { body: { code: code.trim() } })),
    onSuccess: ({ recoveryCodes }) => {
      setCodes(recoveryCodes);
      refresh();
    },
    onError: () => setCode(""),
  });
  const isReady = code.trim().length >= 6;
  return (
    <Dialog
      onClose={codes ? () => setAsks(true) : onClose}
      title={codes ? t("Keep your recovery codes") : t("New recovery codes")}
      closeOnClickOutside={codes === null}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      {codes ? (
        <RecoveryCodes codes={codes} asks={asks} onBack={() => setAsks(false)} onClose={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady && !renew.isPending) renew.mutate();
          }}
        >
          <Stack gap="md">
            <WarningNote>{t("The codes that you have now stop working.")}</WarningNote>
            {renew.error && <ProblemNote problem={explain(renew.error)} />}
            <TextInput
              label={t("Two-factor authentication code")}
              description={t("Of your app, or one of your recovery codes.")}
              value={code}
              autoComplete="one-time-code"
              maxLength={40}
              data-autofocus
              onChange={(event) => setCode(event.currentTarget.value)}
            />
            <Button type="submit" loading={renew.isPending} disabled={!isReady}>
              {t("Make new codes")}
            </Button>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
