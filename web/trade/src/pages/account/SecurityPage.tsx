import { Button, Tabs } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState, ErrorState, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { programName } from "#lib/userAgent.ts";
import { toastDone } from "#lib/components/toasts.tsx";
import { plural } from "#lib/counts.ts";
import { AntiPhishingCard } from "../../account/AntiPhishing.tsx";
import { PasswordDialog } from "../../account/PasswordDialog.tsx";
import { DeleteAccountDialog } from "../../account/DeleteAccountDialog.tsx";
import { DisableMfaDialog, EnableMfaDialog, RenewCodesDialog } from "../../account/MfaDialogs.tsx";
import { ACTIVITY, SESSIONS, useActivity, useMfa, useProfile, useSessions } from "../../account/queries.ts";
import { returned, type Schemas, useExchange } from "../../api/client.ts";
import { tellFailure } from "../../account/failures.ts";
import { explain, explainIfAny } from "../../api/messages.ts";
import { PageLink } from "../../parts/PageLink.tsx";
import classes from "./SecurityPage.module.css";

type SessionRow = Schemas["UserSessionResponse"];
type ActivityRow = Schemas["ActivityResponse"];
type Dialog = "enable" | "disable" | "renew" | "password" | "delete" | null;

/** Address, password, two-factor authentication, sessions, and what happened in the account. */
export default function SecurityPage() {
  const profile = useProfile();
  const mfa = useMfa();
  const { rest } = useExchange();
  const [dialog, setDialog] = useState<Dialog>(null);
  const [tab, setTab] = useState<string | null>("sessions");
  const mail = useMutation({
    mutationFn: () => returned(rest.POST("/api/v1/users/me/email-verification")),
    onSuccess: () => toastDone("A mail is on its way", "Its token works for 24 hours."),
    onError: tellFailure,
  });
  const close = () => setDialog(null);
  return (
    <>
      <PageHeader title="Security">Who can get into your account, and who has been there.</PageHeader>
      {profile.error && !profile.data && (
        <ErrorState problem={explain(profile.error)} onRetry={() => void profile.refetch()} />
      )}
      <div className={classes.cards}>
        <Card title="Email address">
          <p className={classes.text}>
            <strong>{profile.data?.email ?? "…"}</strong>
          </p>
          {profile.data?.emailVerified && (
            <Badge tone="positive" shape="●">
              Confirmed
            </Badge>
          )}
          {profile.data && !profile.data.emailVerified && (
            <>
              <p className={classes.text}>It is not confirmed yet: mails about your account may go astray.</p>
              <div className={classes.buttons}>
                <Button variant="default" loading={mail.isPending} onClick={() => mail.mutate()}>
                  Send the mail again
                </Button>
                <PageLink href="/verify-email">I have a token</PageLink>
              </div>
            </>
          )}
        </Card>
        <Card title="Two-factor authentication">
          {mfa.error && !mfa.data && (
            <ErrorState problem={explain(mfa.error)} onRetry={() => void mfa.refetch()} />
          )}
          {mfa.data?.enabled === false && (
            <>
              <p className={classes.text}>
                A code of an app on your phone, beside the password. It keeps out whoever learns the password.
              </p>
              <Button onClick={() => setDialog("enable")}>Set up two-factor authentication</Button>
            </>
          )}
          {mfa.data?.enabled && (
            <>
              <Badge tone="positive" shape="●">
                On
              </Badge>
              <p className={classes.text}>{plural(mfa.data.recoveryCodesLeft, "recovery code")} left.</p>
              {mfa.data.recoveryCodesLeft < 3 && (
                <WarningNote>Make new ones, before you lose your phone.</WarningNote>
              )}
              <div className={classes.buttons}>
                <Button variant="default" onClick={() => setDialog("renew")}>
                  New recovery codes
                </Button>
                <Button variant="default" onClick={() => setDialog("disable")}>
                  Switch it off
                </Button>
              </div>
            </>
          )}
        </Card>
        <Card title="Password">
          <p className={classes.text}>A change ends all your other sessions.</p>
          <Button variant="default" onClick={() => setDialog("password")}>
            Change the password
          </Button>
        </Card>
        <AntiPhishingCard profile={profile.data} />
        <Card title="Delete the account">
          <p className={classes.text}>For good. It needs no open orders and empty balances.</p>
          <Button variant="default" disabled={profile.data === undefined} onClick={() => setDialog("delete")}>
            Delete the account
          </Button>
        </Card>
      </div>
      <Card flush>
        <Tabs value={tab} onChange={setTab} keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="sessions">Sessions</Tabs.Tab>
            <Tabs.Tab value="activity">Activity</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="sessions">
            <Sessions />
          </Tabs.Panel>
          <Tabs.Panel value="activity">
            <Activity />
          </Tabs.Panel>
        </Tabs>
      </Card>
      {dialog === "enable" && <EnableMfaDialog onClose={close} />}
      {dialog === "disable" && <DisableMfaDialog onClose={close} />}
      {dialog === "renew" && <RenewCodesDialog onClose={close} />}
      {dialog === "delete" && profile.data && (
        <DeleteAccountDialog email={profile.data.email} onClose={close} />
      )}
      {dialog === "password" && <PasswordDialog asksCode={mfa.data?.enabled ?? false} onClose={close} />}
    </>
  );
}

const SESSION_COLUMNS: Column<SessionRow>[] = [
  {
    id: "device",
    title: "Device",
    cell: ({ userAgent, current }) => (
      <span className={classes.agent} title={userAgent}>
        {current && (
          <Badge tone="accent" shape="●">
            This one
          </Badge>
        )}{" "}
        {programName(userAgent)}
      </span>
    ),
  },
  { id: "address", title: "Address", cell: ({ address }) => address },
  {
    id: "used",
    title: "Last used",
    cell: ({ lastUsedAt }) => <TimeText milliseconds={Date.parse(lastUsedAt)} />,
  },
  { id: "begun", title: "Begun", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
];

function Sessions() {
  const query = useSessions();
  const { rest } = useExchange();
  const client = useQueryClient();
  const refresh = () => {
    void client.invalidateQueries({ queryKey: SESSIONS });
    void client.invalidateQueries({ queryKey: ACTIVITY });
  };
  const end = useMutation({
    mutationFn: (sessionId: string) =>
      returned(rest.DELETE("/api/v1/users/me/sessions/{sessionId}", { params: { path: { sessionId } } })),
    onSuccess: () => {
      toastDone("The session has ended");
      refresh();
    },
    onError: tellFailure,
  });
  const endOthers = useMutation({
    mutationFn: () => returned(rest.DELETE("/api/v1/users/me/sessions")),
    onSuccess: ({ ended }) => {
      toastDone(`${plural(ended, "session")} ended`);
      refresh();
    },
    onError: tellFailure,
  });
  return (
    <DataTable
      label="Sessions"
      toolbar={
        <Button
          size="compact-sm"
          variant="default"
          loading={endOthers.isPending}
          disabled={(query.data?.length ?? 0) < 2}
          onClick={() => endOthers.mutate()}
        >
          End all others
        </Button>
      }
      columns={SESSION_COLUMNS}
      rows={query.data}
      rowId={({ sessionId }) => sessionId}
      rowName={({ userAgent }) => userAgent || "unknown"}
      actions={({ sessionId, current }) => [
        {
          label: "End the session",
          danger: true,
          disabledReason: current ? "This is the session you are in: log out instead." : undefined,
          onClick: () => end.mutate(sessionId),
        },
      ]}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title="No sessions">You are not logged in anywhere.</EmptyState>}
    />
  );
}

const ACTIVITIES: Readonly<Record<Schemas["ActivityKind"], string>> = {
  logged_in: "Logged in",
  logged_out: "Logged out",
  session_ended: "A session was ended",
  other_sessions_ended: "All other sessions were ended",
  refresh_token_reused: "A session was ended: its token was used twice",
  email_verified: "Email address confirmed",
  password_changed: "Password changed",
  password_reset: "Password reset by mail",
  mfa_enabled: "Two-factor authentication switched on",
  mfa_disabled: "Two-factor authentication switched off",
  recovery_code_used: "A recovery code was used",
  recovery_codes_renewed: "Recovery codes replaced",
  profile_changed: "Profile changed",
  anti_phishing_code_changed: "Anti-phishing code changed",
  api_key_created: "API key made",
  api_key_rotated: "API key given a new secret",
  api_key_revoked: "API key revoked",
  made_administrator: "Made an administrator",
  login_locked: "The platform locked the login",
  login_unlocked: "The platform unlocked the login",
  withdrawals_locked: "The platform locked withdrawals",
  withdrawals_unlocked: "The platform unlocked withdrawals",
  mfa_reset: "The platform removed the second factor",
  sessions_ended_by_operator: "The platform ended sessions",
  administrator_no_more: "No administrator any more",
};

const ACTIVITY_COLUMNS: Column<ActivityRow>[] = [
  { id: "time", title: "Time", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  {
    id: "what",
    title: "What",
    cell: ({ kind }) => ACTIVITIES[kind],
  },
  { id: "address", title: "Address", cell: ({ address }) => address },
  {
    id: "device",
    title: "Device",
    cell: ({ userAgent }) => (
      <span className={classes.agent} title={userAgent}>
        {programName(userAgent)}
      </span>
    ),
  },
];

function Activity() {
  const query = useActivity();
  return (
    <DataTable
      label="Activity"
      columns={ACTIVITY_COLUMNS}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ id }) => id}
      rowName={({ kind }) => ACTIVITIES[kind]}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title="Nothing has happened yet">
          Logins and changes of your account appear here.
        </EmptyState>
      }
      footer={<ShowOlder query={query} />}
    />
  );
}
