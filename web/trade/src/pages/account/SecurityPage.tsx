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
import { several, t } from "#lib/language.ts";
import { programName } from "#lib/userAgent.ts";
import { toastDone } from "#lib/components/toasts.tsx";
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
    onSuccess: () => toastDone(t("A mail is on its way"), t("Its token works for 24 hours.")),
    onError: tellFailure,
  });
  const close = () => setDialog(null);
  return (
    <>
      <PageHeader title={t("Security")}>
        {t("Who can get into your account, and who has been there.")}
      </PageHeader>
      {profile.error && !profile.data && (
        <ErrorState problem={explain(profile.error)} onRetry={() => void profile.refetch()} />
      )}
      <div className={classes.cards}>
        <Card title={t("Email address")}>
          <p className={classes.text}>
            <strong>{profile.data?.email ?? "…"}</strong>
          </p>
          {profile.data?.emailVerified && (
            <Badge tone="positive" shape="●">
              {t("Confirmed")}
            </Badge>
          )}
          {profile.data && !profile.data.emailVerified && (
            <>
              <p className={classes.text}>
                {t("It is not confirmed yet: mails about your account may go astray.")}
              </p>
              <div className={classes.buttons}>
                <Button variant="default" loading={mail.isPending} onClick={() => mail.mutate()}>
                  {t("Send the mail again")}
                </Button>
                <PageLink href="/verify-email">{t("I have a token")}</PageLink>
              </div>
            </>
          )}
        </Card>
        <Card title={t("Two-factor authentication")}>
          {mfa.error && !mfa.data && (
            <ErrorState problem={explain(mfa.error)} onRetry={() => void mfa.refetch()} />
          )}
          {mfa.data?.enabled === false && (
            <>
              <p className={classes.text}>
                {t(
                  "A code of an app on your phone, beside the password. It keeps out whoever learns the password.",
                )}
              </p>
              <Button onClick={() => setDialog("enable")}>{t("Set up two-factor authentication")}</Button>
            </>
          )}
          {mfa.data?.enabled && (
            <>
              <p className={classes.text}>
                <Badge tone="positive" shape="●">
                  {t("On")}
                </Badge>
              </p>
              <p className={classes.text}>
                {several(
                  mfa.data.recoveryCodesLeft,
                  "{count} recovery code left.",
                  "{count} recovery codes left.",
                )}
              </p>
              {mfa.data.recoveryCodesLeft < 3 && (
                <WarningNote>{t("Make new ones, before you lose your phone.")}</WarningNote>
              )}
              <div className={classes.buttons}>
                <Button variant="default" onClick={() => setDialog("renew")}>
                  {t("New recovery codes")}
                </Button>
                <Button variant="default" onClick={() => setDialog("disable")}>
                  {t("Switch it off")}
                </Button>
              </div>
            </>
          )}
        </Card>
        <Card title={t("Password")}>
          <p className={classes.text}>{t("A change ends all your other sessions.")}</p>
          <Button variant="default" onClick={() => setDialog("password")}>
            {t("Change the password")}
          </Button>
        </Card>
        <AntiPhishingCard profile={profile.data} />
        <Card title={t("Delete the account")}>
          <p className={classes.text}>{t("For good. It needs no open orders and empty balances.")}</p>
          <Button variant="default" disabled={profile.data === undefined} onClick={() => setDialog("delete")}>
            {t("Delete the account")}
          </Button>
        </Card>
      </div>
      <Card flush>
        <Tabs value={tab} onChange={setTab} keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="sessions">{t("Sessions")}</Tabs.Tab>
            <Tabs.Tab value="activity">{t("Activity")}</Tabs.Tab>
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
    get title() {
      return t("Device");
    },
    cell: ({ userAgent, current }) => (
      <span className={classes.agent} title={userAgent}>
        {current && (
          <Badge tone="accent" shape="●">
            {t("This one")}
          </Badge>
        )}{" "}
        {programName(userAgent)}
      </span>
    ),
  },
  {
    id: "address",
    get title() {
      return t("Address");
    },
    cell: ({ address }) => address,
  },
  {
    id: "used",
    get title() {
      return t("Last used");
    },
    cell: ({ lastUsedAt }) => <TimeText milliseconds={Date.parse(lastUsedAt)} />,
  },
  {
    id: "begun",
    get title() {
      return t("Begun");
    },
    cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
  },
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
      toastDone(t("The session has ended"));
      refresh();
    },
    onError: tellFailure,
  });
  const endOthers = useMutation({
    mutationFn: () => returned(rest.DELETE("/api/v1/users/me/sessions")),
    onSuccess: ({ ended }) => {
      toastDone(several(ended, "{count} session has ended", "{count} sessions have ended"));
      refresh();
    },
    onError: tellFailure,
  });
  return (
    <DataTable
      label={t("Sessions")}
      toolbar={
        <Button
          size="compact-sm"
          variant="default"
          loading={endOthers.isPending}
          disabled={(query.data?.length ?? 0) < 2}
          onClick={() => endOthers.mutate()}
        >
          {t("End all others")}
        </Button>
      }
      columns={SESSION_COLUMNS}
      rows={query.data}
      rowId={({ sessionId }) => sessionId}
      rowName={({ userAgent }) => userAgent || t("unknown")}
      actions={({ sessionId, current }) => [
        {
          label: t("End the session"),
          danger: true,
          disabledReason: current ? t("This is the session you are in: log out instead.") : undefined,
          onClick: () => end.mutate(sessionId),
        },
      ]}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title={t("No sessions")}>{t("You are not logged in anywhere.")}</EmptyState>}
    />
  );
}

const ACTIVITIES: Readonly<Record<Schemas["ActivityKind"], string>> = {
  get logged_in() {
    return t("Logged in");
  },
  get logged_out() {
    return t("Logged out");
  },
  get session_ended() {
    return t("A session was ended");
  },
  get other_sessions_ended() {
    return t("All other sessions were ended");
  },
  get refresh_token_reused() {
    return t("A session was ended: its token was used twice");
  },
  get email_verified() {
    return t("Email address confirmed");
  },
  get password_changed() {
    return t("Password changed");
  },
  get password_reset() {
    return t("Password reset by mail");
  },
  get mfa_enabled() {
    return t("Two-factor authentication switched on");
  },
  get mfa_disabled() {
    return t("Two-factor authentication switched off");
  },
  get recovery_code_used() {
    return t("A recovery code was used");
  },
  get recovery_codes_renewed() {
    return t("Recovery codes replaced");
  },
  get profile_changed() {
    return t("Profile changed");
  },
  get anti_phishing_code_changed() {
    return t("Anti-phishing code changed");
  },
  get api_key_created() {
    return t("API key made");
  },
  get api_key_rotated() {
    return t("API key given a new secret");
  },
  get api_key_revoked() {
    return t("API key revoked");
  },
  get withdrawal_address_saved() {
    return t("Withdrawal address saved");
  },
  get withdrawal_address_deleted() {
    return t("Withdrawal address deleted");
  },
  get made_administrator() {
    return t("Made an administrator");
  },
  get administrator_no_more() {
    return t("No administrator any more");
  },
  get login_locked() {
    return t("The platform locked the login");
  },
  get login_unlocked() {
    return t("The platform unlocked the login");
  },
  get withdrawals_locked() {
    return t("The platform locked withdrawals");
  },
  get withdrawals_unlocked() {
    return t("The platform unlocked withdrawals");
  },
  get mfa_reset() {
    return t("The platform removed the second factor");
  },
  get api_key_revoked_by_operator() {
    return t("The platform revoked API keys");
  },
  get sessions_ended_by_operator() {
    return t("The platform ended sessions");
  },
  get unproved_api_keys_revoked() {
    return t("API keys revoked: made before your email address was confirmed");
  },
  get unproved_addresses_deleted() {
    return t("Withdrawal addresses deleted: saved before your email address was confirmed");
  },
  get unproved_mfa_removed() {
    return t("Two-factor authentication removed: enabled before your email address was confirmed");
  },
  get unproved_anti_phishing_code_removed() {
    return t("Anti-phishing code removed: chosen before your email address was confirmed");
  },
};

const ACTIVITY_COLUMNS: Column<ActivityRow>[] = [
  {
    id: "time",
    get title() {
      return t("Time");
    },
    cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
  },
  {
    id: "what",
    get title() {
      return t("What");
    },
    cell: ({ kind }) => ACTIVITIES[kind],
  },
  {
    id: "address",
    get title() {
      return t("Address");
    },
    cell: ({ address }) => address,
  },
  {
    id: "device",
    get title() {
      return t("Device");
    },
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
      label={t("Activity")}
      columns={ACTIVITY_COLUMNS}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ id }) => id}
      rowName={({ kind }) => ACTIVITIES[kind]}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title={t("Nothing has happened yet")}>
          {t("Logins and changes of your account appear here.")}
        </EmptyState>
      }
      footer={<ShowOlder query={query} />}
    />
  );
}
