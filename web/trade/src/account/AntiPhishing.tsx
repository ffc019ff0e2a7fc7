import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { rich, t } from "#lib/language.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import classes from "./AntiPhishing.module.css";
import { PROFILE } from "./profile.ts";
import { ACTIVITY } from "./queries.ts";

const LENGTH_MIN = 4;
const LENGTH_MAX = 32;

type Dialog = "set" | "remove" | null;

/** Sets the code, or removes it with null. */
function useChange(onDone: () => void) {
  const { rest } = useExchange();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (code: string | null) =>
      returned(rest.PUT("/api/v1/users/me/anti-phishing-code", { body: { code } })),
    onSuccess: ({ code }) => {
      if (code === null) toastDone(t("The code is removed"), t("Our mails show none from now on."));
      else toastDone(t("The code is set"), t("Every mail of ours shows it from now on."));
      onDone();
    },
    onSettled: () => {
      for (const queryKey of [PROFILE, ACTIVITY]) void client.invalidateQueries({ queryKey });
    },
  });
}

/** A text of the user's own choice, by which real mails are told from forged ones. */
export function AntiPhishingCard({ profile }: { profile: Schemas["ProfileResponse"] | undefined }) {
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  const code = profile?.antiPhishingCode ?? null;
  return (
    <Card title={t("Anti-phishing code")}>
      <p className={classes.text}>
        {code === null
          ? t("Words that you choose. Every mail of ours begins with them, so you know a forged one.")
          : t("Every mail of ours begins with this line. Trust no mail without it:")}
      </p>
      {code !== null && (
        <p className={classes.code}>
          {rich("Your anti-phishing code: {code}", { code: <strong>{code}</strong> })}
        </p>
      )}
      <div className={classes.buttons}>
        <Button variant="default" disabled={!profile} onClick={() => setDialog("set")}>
          {code === null ? t("Set a code") : t("Change the code")}
        </Button>
        {code !== null && (
          <Button variant="default" onClick={() => setDialog("remove")}>
            {t("Remove it")}
          </Button>
        )}
      </div>
      {dialog === "set" && <SetDialog isChange={code !== null} onClose={close} />}
      {dialog === "remove" && <RemoveDialog onClose={close} />}
    </Card>
  );
}

function SetDialog({ isChange, onClose }: { isChange: boolean; onClose: () => void }) {
  const [code, setCode] = useState("");
  const [showsFaults, setShowsFaults] = useState(false);
  const change = useChange(onClose);
  const text = code.trim();
  const fault =
    text.length < LENGTH_MIN || text.length > LENGTH_MAX
      ? t("{lengthMin} to {lengthMax} characters are needed.", {
          lengthMin: LENGTH_MIN,
          lengthMax: LENGTH_MAX,
        })
      : null;
  return (
    <Dialog
      onClose={onClose}
      title={isChange ? t("Change the anti-phishing code") : t("Set an anti-phishing code")}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setShowsFaults(true);
          if (fault === null && !change.isPending) change.mutate(text);
        }}
      >
        <Stack gap="md">
          {change.error && <ProblemNote problem={explain(change.error)} />}
          <TextInput
            label={t("Code")}
            description={t("Something that nobody guesses, and never your password.")}
            placeholder={t("blue heron")}
            value={code}
            error={showsFaults ? fault : null}
            maxLength={LENGTH_MAX}
            autoComplete="off"
            data-autofocus
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          <Button type="submit" loading={change.isPending}>
            {t("Set the code")}
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}

function RemoveDialog({ onClose }: { onClose: () => void }) {
  const change = useChange(onClose);
  return (
    <ConfirmDialog
      title={t("Remove the anti-phishing code?")}
      operator=""
      confirm={t("Remove the code")}
      danger
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={() => change.mutate(null)}
      onClose={onClose}
    >
      <p>{t("Our mails will show no code. A forged mail is then harder to tell from a real one.")}</p>
    </ConfirmDialog>
  );
}
