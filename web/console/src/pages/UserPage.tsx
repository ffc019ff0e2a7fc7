import { Anchor, Button, Menu, Skeleton, VisuallyHidden } from "@mantine/core";
import { KebabHorizontalIcon, PencilIcon, XCircleIcon } from "@primer/octicons-react";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { CopyText } from "#lib/components/CopyText.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ErrorState, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { languageName } from "#lib/languageName.ts";
import { useUrlState } from "#lib/urlState.ts";
import { explain } from "../engine/messages.ts";
import { type Permission, useCan } from "../operator/session.ts";
import { AdjustmentDialog } from "../parts/AdjustmentDialog.tsx";
import { Fact } from "../parts/Fact.tsx";
import { VerificationBadge } from "../parts/PersonBadges.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import {
  KeysDialog,
  LimitsDialog,
  LockDialog,
  MailDialog,
  NoteDialog,
  RequestingDialog,
  SessionsDialog,
} from "../parts/UserDialogs.tsx";
import { UserActivity, UserKeys, UserNotes, UserNotices, UserSessions } from "../parts/UserLists.tsx";
import { moneyTabs, requestsTab, type UserTab, UserTabs } from "../parts/UserTabs.tsx";
import { useUser, type UserOverview } from "../people/queries.ts";
import { ClosedUserPage } from "./ClosedUserPage.tsx";
import classes from "./ParticipantPage.module.css";

const NO_REVOKING = "This needs the permission api_keys.revoke_any.";

type Asked =
  | { dialog: "login" | "withdrawals" | "limits" | "mail" | "note" | "factor" | "closure" | "adjust" }
  | { dialog: "sessions"; sessionId?: string }
  | { dialog: "keys"; keyId?: string };

interface Choice {
  label: string;
  needs: Permission;
  asked: Asked;
  danger?: boolean;
  /** Whether administrators alone do it to an operator. */
  isGuarded?: boolean;
}

/** What is done to an operator needs this too. */
const OF_OPERATORS: Permission = "operators.end_sessions";

function choicesOf(user: UserOverview): Choice[] {
  const isLocked = (kind: "login" | "withdrawals") => user.locks.some((lock) => lock.kind === kind);
  return [
    {
      label: isLocked("login") ? "Unlock the login…" : "Lock the login…",
      needs: "users.lock_login",
      asked: { dialog: "login" },
      danger: true,
      isGuarded: true,
    },
    {
      label: isLocked("withdrawals") ? "Unlock the withdrawals…" : "Lock the withdrawals…",
      needs: "users.lock_withdrawals",
      asked: { dialog: "withdrawals" },
      danger: true,
      isGuarded: true,
    },
    {
      label: "End all sessions…",
      needs: "sessions.end_any",
      asked: { dialog: "sessions" },
      danger: true,
      isGuarded: true,
    },
    { label: "Send a mail again…", needs: "users.resend_mail", asked: { dialog: "mail" } },
    { label: "Change the limits…", needs: "users.set_limits", asked: { dialog: "limits" } },
    { label: "Adjust the balance…", needs: "balances.adjust_up", asked: { dialog: "adjust" } },
    {
      label: "Reset the second factor…",
      needs: "users.reset_second_factor",
      asked: { dialog: "factor" },
      danger: true,
      isGuarded: true,
    },
    { label: "Close the account…", needs: "users.close", asked: { dialog: "closure" }, danger: true },
  ];
}

/** One user: who it is, what the user has and did, and what operators can do for the user. */
export function UserPage({ userId }: { userId: string }) {
  const query = useUser(userId);
  const url = useUrlState();
  const can = useCan();
  // Other pages lead to the dialog by the address.
  const isAdjusted = url.parameter("do") === "adjust" && can("balances.adjust_up");
  const [asked, setAsked] = useState<Asked | null>(isAdjusted ? { dialog: "adjust" } : null);
  const close = () => {
    setAsked(null);
    // A view that is saved later opens no dialog.
    url.change({ do: null });
  };
  const user = query.data;
  if (!user) {
    return (
      <>
        <PageHeader title={userId} />
        <Card>
          {query.error ? (
            <ErrorState problem={explain(query.error)} onRetry={() => void query.refetch()} />
          ) : (
            <>
              <VisuallyHidden>Loading the user</VisuallyHidden>
              <Skeleton height={72} />
            </>
          )}
        </Card>
      </>
    );
  }
  const stale = query.error && (
    <div className={classes.stale}>
      <WarningNote>
        {explain(query.error).title}. {explain(query.error).advice}
      </WarningNote>
    </div>
  );
  if ("closedAt" in user) return <ClosedUserPage user={user} stale={stale} />;
  return (
    <>
      <PageHeader
        title={user.email}
        actions={
          <>
            <SavedViews page="user" />
            <Menu position="bottom-end">
              <Menu.Target>
                <Button variant="default" leftSection={<KebabHorizontalIcon />}>
                  Do something
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                {choicesOf(user).map(({ label, needs, asked: next, danger, isGuarded = false }) => {
                  const needed: Permission[] = isGuarded && user.isOperator ? [needs, OF_OPERATORS] : [needs];
                  const missing = needed.find((permission) => !can(permission));
                  return (
                    <Menu.Item
                      key={label}
                      disabled={missing !== undefined}
                      title={missing === undefined ? undefined : `This needs the permission ${missing}.`}
                      data-danger={danger}
                      onClick={() => setAsked(next)}
                    >
                      {label}
                    </Menu.Item>
                  );
                })}
              </Menu.Dropdown>
            </Menu>
          </>
        }
      >
        {user.displayName}
      </PageHeader>
      {stale}
      {user.locks.map((lock) => (
        <div className={classes.stale} key={lock.kind}>
          <WarningNote>
            {lock.kind === "login" ? "The login is locked" : "The withdrawals are locked"} by {lock.lockedBy}:{" "}
            {lock.reason}
          </WarningNote>
        </div>
      ))}
      <Card>
        <dl className={classes.facts}>
          <Facts user={user} />
        </dl>
      </Card>
      <UserTabs tabs={tabsOf(user, setAsked, can)} />
      {asked && dialogOf(asked, user, close)}
    </>
  );
}

function tabsOf(
  user: UserOverview,
  ask: (asked: Asked) => void,
  can: (permission: Permission) => boolean,
): readonly UserTab[] {
  const { userId } = user;
  const whyNot = (...needed: readonly Permission[]) => {
    const missing = needed.find((permission) => !can(permission));
    return missing && `This needs the permission ${missing}.`;
  };
  const sessions = (
    <UserSessions
      userId={userId}
      actions={({ sessionId }) => [
        {
          label: "End the session…",
          icon: <XCircleIcon />,
          danger: true,
          disabledReason: whyNot("sessions.end_any", ...(user.isOperator ? [OF_OPERATORS] : [])),
          onClick: () => ask({ dialog: "sessions", sessionId }),
        },
      ]}
    />
  );
  const keys = (
    <UserKeys
      userId={userId}
      toolbar={
        <Button
          variant="default"
          leftSection={<XCircleIcon />}
          disabled={!can("api_keys.revoke_any")}
          title={can("api_keys.revoke_any") ? undefined : NO_REVOKING}
          onClick={() => ask({ dialog: "keys" })}
        >
          Revoke all
        </Button>
      }
      actions={({ id }) => [
        {
          label: "Revoke the key…",
          icon: <XCircleIcon />,
          danger: true,
          disabledReason: can("api_keys.revoke_any") ? undefined : NO_REVOKING,
          onClick: () => ask({ dialog: "keys", keyId: id }),
        },
      ]}
    />
  );
  const notes = (
    <UserNotes
      userId={userId}
      button={
        <Button
          variant="default"
          leftSection={<PencilIcon />}
          disabled={!can("users.annotate")}
          title={whyNot("users.annotate")}
          onClick={() => ask({ dialog: "note" })}
        >
          Add a note
        </Button>
      }
    />
  );
  return [
    ...moneyTabs(user),
    { name: "sessions", title: "Sessions", content: sessions },
    { name: "keys", title: "API keys", content: keys },
    { name: "activity", title: "Activity", content: <UserActivity userId={userId} /> },
    { name: "notices", title: "Notices", content: <UserNotices userId={userId} /> },
    requestsTab(userId),
    { name: "notes", title: "Notes", content: notes },
  ];
}

function dialogOf(asked: Asked, user: UserOverview, onClose: () => void): ReactNode {
  const shared = { user, onClose };
  switch (asked.dialog) {
    case "login":
    case "withdrawals":
      return <LockDialog {...shared} kind={asked.dialog} />;
    case "limits":
      return <LimitsDialog {...shared} />;
    case "mail":
      return <MailDialog {...shared} />;
    case "note":
      return <NoteDialog {...shared} />;
    case "factor":
      return <RequestingDialog {...shared} kind="second factor" />;
    case "closure":
      return <RequestingDialog {...shared} kind="closure" />;
    case "adjust":
      return <AdjustmentDialog userId={user.userId} onClose={onClose} />;
    case "keys":
      return <KeysDialog {...shared} {...(asked.keyId === undefined ? {} : { keyId: asked.keyId })} />;
    case "sessions":
      return (
        <SessionsDialog
          {...shared}
          {...(asked.sessionId === undefined ? {} : { sessionId: asked.sessionId })}
        />
      );
  }
}

function Facts({ user }: { user: UserOverview }) {
  const { limits } = user;
  const can = useCan();
  const own = [
    limits.dailyWithdrawalUsd !== null && (
      <span key="usd">
        <Amount value={String(limits.dailyWithdrawalUsd)} unit="USD" /> a day
      </span>
    ),
    limits.apiKeys !== null && `${limits.apiKeys} API keys`,
    limits.savedAddresses !== null && `${limits.savedAddresses} saved addresses`,
  ].filter((part) => part !== false);
  return (
    <>
      <Fact name="User id">
        <CopyText text={user.userId} name="user id" />
      </Fact>
      <Fact name="Registered">{moment(user.createdAt)}</Fact>
      <Fact name="E-mail verified">{moment(user.emailVerifiedAt)}</Fact>
      <Fact name="Second factor since">{moment(user.secondFactorSince)}</Fact>
      <Fact name="Verification">
        <span>
          {user.verificationLevel} <VerificationBadge status={user.verificationStatus} />{" "}
          {can("kyc.read") && (
            <Anchor
              component={Link}
              href={`/verifications?state=${user.verificationStatus}&user=${encodeURIComponent(user.userId)}`}
              inherit
            >
              Show in the queue
            </Anchor>
          )}
        </span>
      </Fact>
      <Fact name="Language">{user.language === null ? "not chosen" : languageName(user.language, "en")}</Fact>
      <Fact name="Time zone">{user.timeZone ?? "not chosen"}</Fact>
      <Fact name="Role of access tokens">{user.role}</Fact>
      <Fact name="Plan">{user.plan ?? "–"}</Fact>
      <Fact name="Own limits">{own.length === 0 ? "–" : own}</Fact>
    </>
  );
}

function moment(time: string | null): ReactNode {
  return time === null ? "no" : <TimeText milliseconds={Date.parse(time)} />;
}
