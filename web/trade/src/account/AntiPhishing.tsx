import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import classes from "./AntiPhishing.module.css";
import { ACTIVITY, PROFILE } from "./queries.ts";

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
      if (code === null) toastDone("The code is removed", "Our mails show none from now on.");
      else toastDone("The code is set", "Every mail of ours shows it from now on.");
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
    <Card title="Anti-phishing code">
      <p className={classes.text}>
        {code === null
          ? "Words that you choose. Every mail of ours begins with them, so you know a forged one."
          : "Every mail of ours begins with this line. Trust no mail without it:"}
      </p>
      {code !== null && (
        <p className={classes.code}>
          Your anti-phishing code: <strong>{code}</strong>
        </p>
      )}
      <div className={classes.buttons}>
        <Button variant="default" disabled={!profile} onClick={() => setDialog("set")}>
          {code === null ? "Set a code" : "Change the code"}
        </Button>
        {code !== null && (
          <Button variant="default" onClick={() => setDialog("remove")}>
            Remove it
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
      ? `${LENGTH_MIN} to ${LENGTH_MAX} characters are needed.`
      : null;
  return (
    <Dialog
      onClose={onClose}
      title={isChange ? "Change the anti-phishing code" : "Set an anti-phishing code"}
      closeButtonProps={{ "aria-label": "Close" }}
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
            label="Code"
            description="Something that nobody guesses, and never your password."
            placeholder="blue heron"
            value={code}
            error={showsFaults ? fault : null}
            maxLength={LENGTH_MAX}
            autoComplete="off"
            data-autofocus
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          <Button type="submit" loading={change.isPending}>
            Set the code
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
      title="Remove the anti-phishing code?"
      operator=""
      confirm="Remove the code"
      danger
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={() => change.mutate(null)}
      onClose={onClose}
    >
      <p>Our mails will show no code. A forged mail is then harder to tell from a real one.</p>
    </ConfirmDialog>
  );
}
