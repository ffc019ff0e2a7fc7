import { Select, SimpleGrid, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { parseCount } from "#lib/counts.ts";
import { explainIfAny } from "../engine/messages.ts";
import { returned } from "../operator/client.ts";
import { useActingName } from "../operator/session.ts";
import { type LockKind, useChange, type UserOverview } from "../people/queries.ts";
import { ReasonDialog } from "./ReasonDialog.tsx";

interface Props {
  user: UserOverview;
  onClose: () => void;
}

const LOCKS: Record<LockKind, { title: string; locked: string; text: string }> = {
  login: {
    title: "login",
    locked: "The login is locked",
    text: "All sessions end at once, API keys rest, and nobody can log in until the lock is ended. Open orders stay.",
  },
  withdrawals: {
    title: "withdrawals",
    locked: "The withdrawals are locked",
    text: "No withdrawal is made, approved, signed or sent until the lock is ended. Those under way wait.",
  },
};

/** Lock or unlock a user's login or withdrawals. */
export function LockDialog({ user, kind, onClose }: Props & { kind: LockKind }) {
  const isLocked = user.locks.some((lock) => lock.kind === kind);
  const { title, locked, text } = LOCKS[kind];
  const path = { userId: user.userId };
  const verb = isLocked ? "Unlock" : "Lock";
  return (
    <ReasonDialog<unknown>
      title={`${verb} the ${title}?`}
      confirm={`${verb} the ${title}`}
      danger={!isLocked}
      act={({ rest }, reason) => {
        const body = { params: { path }, body: { reason } };
        if (kind === "login") {
          return returned(
            isLocked
              ? rest.DELETE("/api/v1/operator/users/{userId}/locks/login", body)
              : (rest.PUT("/api/v1/operator/users/{userId}/locks/login", body) as never),
          );
        }
        return returned(
          isLocked
            ? rest.DELETE("/api/v1/operator/users/{userId}/locks/withdrawals", body)
            : (rest.PUT("/api/v1/operator/users/{userId}/locks/withdrawals", body) as never),
        );
      }}
      done={() => [isLocked ? `The ${title} can be used again` : locked, user.email]}
      onClose={onClose}
    >
      <p>{isLocked ? "The user is told of it, and can go on at once." : text}</p>
    </ReasonDialog>
  );
}

/** End all sessions of a user, or one. */
export function SessionsDialog({ user, sessionId, onClose }: Props & { sessionId?: string }) {
  const userId = user.userId;
  return (
    <ReasonDialog
      title={sessionId === undefined ? "End all sessions?" : "End the session?"}
      confirm={sessionId === undefined ? "End all sessions" : "End the session"}
      danger
      act={({ rest }, reason) =>
        returned(
          sessionId === undefined
            ? rest.DELETE("/api/v1/operator/users/{userId}/sessions", {
                params: { path: { userId } },
                body: { reason },
              })
            : rest.DELETE("/api/v1/operator/users/{userId}/sessions/{sessionId}", {
                params: { path: { userId, sessionId } },
                body: { reason },
              }),
        )
      }
      done={({ ended }) => ["Sessions ended", `${ended} of ${user.email}`]}
      onClose={onClose}
    >
      <p>The user can log in again at once. API keys stay; lock the login to stop them, too.</p>
    </ReasonDialog>
  );
}

/** Revoke all API keys of a user, or one. */
export function KeysDialog({ user, keyId, onClose }: Props & { keyId?: string }) {
  const userId = user.userId;
  return (
    <ReasonDialog
      title={keyId === undefined ? "Revoke all API keys?" : "Revoke the API key?"}
      confirm={keyId === undefined ? "Revoke all API keys" : "Revoke the API key"}
      danger
      act={({ rest }, reason) =>
        returned(
          keyId === undefined
            ? rest.DELETE("/api/v1/operator/users/{userId}/api-keys", {
                params: { path: { userId } },
                body: { reason },
              })
            : rest.DELETE("/api/v1/operator/users/{userId}/api-keys/{id}", {
                params: { path: { userId, id: keyId } },
                body: { reason },
              }),
        )
      }
      done={({ revoked }) => ["Revoked", `${revoked.length} API keys of ${user.email}`]}
      onClose={onClose}
    >
      <p>
        Programs that sign with it are refused at once, on open connections too. A revoked key never works
        again; the user is told, and can make another.
      </p>
    </ReasonDialog>
  );
}

/** Ask for what another person has to approve. */
export function RequestingDialog({ user, kind, onClose }: Props & { kind: "second factor" | "closure" }) {
  const params = { path: { userId: user.userId } };
  const isClosure = kind === "closure";
  return (
    <ReasonDialog
      title={isClosure ? "Ask for the closure of the account?" : "Ask for the reset of the second factor?"}
      typed={isClosure ? user.userId : ""}
      confirm={isClosure ? "Ask for the closure" : "Ask for the reset"}
      danger
      act={({ rest }, reason) =>
        returned(
          isClosure
            ? rest.POST("/api/v1/operator/users/{userId}/closure", { params, body: { reason } })
            : rest.POST("/api/v1/operator/users/{userId}/second-factor-reset", { params, body: { reason } }),
        )
      }
      done={() => ["Asked", "Another person has to approve it, on the page Approvals"]}
      onClose={onClose}
    >
      <p>
        {isClosure
          ? "The account and its personal data are deleted when another person approves. Nothing may be left on it: no open orders, no balances, no money under way."
          : "Whoever knows the password can log in afterwards: make sure that it is the user who asks."}
      </p>
    </ReasonDialog>
  );
}

const MAILS = [
  { value: "verify_email", label: "Confirm the e-mail address" },
  { value: "reset_password", label: "Choose a new password" },
] as const;

/** Send a mail again. */
export function MailDialog({ user, onClose }: Props) {
  const [kind, setKind] = useState<(typeof MAILS)[number]["value"]>("verify_email");
  return (
    <ReasonDialog
      title="Send a mail again?"
      confirm="Send the mail"
      act={({ rest }, reason) =>
        returned(
          rest.POST("/api/v1/operator/users/{userId}/mails", {
            params: { path: { userId: user.userId } },
            body: { kind, reason },
          }),
        )
      }
      done={() => ["The mail is queued", user.email]}
      onClose={onClose}
    >
      <Select
        label="Mail"
        data={[...MAILS]}
        value={kind}
        allowDeselect={false}
        onChange={(value) => setKind(MAILS.find((mail) => mail.value === value)?.value ?? "verify_email")}
      />
    </ReasonDialog>
  );
}

function NumberField(props: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <TextInput
      label={props.label}
      placeholder="the platform's"
      inputMode="numeric"
      maxLength={13}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value.trim())}
    />
  );
}

/** Give a user limits of their own. An empty field gives the user the platform's again. */
export function LimitsDialog({ user, onClose }: Props) {
  const { dailyWithdrawalUsd, apiKeys, savedAddresses } = user.limits;
  const textOf = (value: number | null) => (value === null ? "" : String(value));
  const [withdrawal, setWithdrawal] = useState(textOf(dailyWithdrawalUsd));
  const [keys, setKeys] = useState(textOf(apiKeys));
  const [addresses, setAddresses] = useState(textOf(savedAddresses));
  const isWrong = (text: string) => text !== "" && parseCount(text) === null;
  const countOf = (text: string) => (text === "" ? null : parseCount(text));
  return (
    <ReasonDialog
      title="Change the limits?"
      missing={[
        (isWrong(withdrawal) || isWrong(keys) || isWrong(addresses)) && "enter whole numbers, or nothing",
      ]}
      confirm="Change the limits"
      act={({ rest }, reason) =>
        returned(
          rest.PUT("/api/v1/operator/users/{userId}/limits", {
            params: { path: { userId: user.userId } },
            body: {
              dailyWithdrawalUsd: countOf(withdrawal),
              apiKeys: countOf(keys),
              savedAddresses: countOf(addresses),
              reason,
            },
          }),
        )
      }
      done={() => ["The limits are changed", user.email]}
      onClose={onClose}
    >
      <p>
        They hold from the next request on. An empty field gives the user the platform&apos;s limit again.
      </p>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        <NumberField label="USD to withdraw in 24 hours" value={withdrawal} onChange={setWithdrawal} />
        <NumberField label="API keys" value={keys} onChange={setKeys} />
        <NumberField label="Saved addresses" value={addresses} onChange={setAddresses} />
      </SimpleGrid>
    </ReasonDialog>
  );
}

/** Note something about a user. */
export function NoteDialog({ user, onClose }: Props) {
  const [text, setText] = useState("");
  const add = useChange<string, unknown>(
    ({ rest }, note) =>
      returned(
        rest.POST("/api/v1/operator/users/{userId}/notes", {
          params: { path: { userId: user.userId } },
          body: { text: note },
        }),
      ),
    () => {
      onClose();
      toastDone("Noted", user.email);
    },
  );
  return (
    <ConfirmDialog
      title="Note something about the user?"
      operator={useActingName()}
      missing={[text.trim() === "" && "write a note"]}
      confirm="Add the note"
      isBusy={add.isPending}
      problem={explainIfAny(add.error)}
      onConfirm={() => add.mutate(text.trim())}
      onClose={onClose}
    >
      <p>Other operators see it, the user does not. It goes when the account is deleted.</p>
      <Textarea
        label="Note"
        autosize
        minRows={3}
        maxLength={2000}
        value={text}
        data-autofocus
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </ConfirmDialog>
  );
}
