import { Button } from "@mantine/core";
import { LogIcon } from "@primer/octicons-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { CopyText } from "#lib/components/CopyText.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { useCan } from "../operator/session.ts";
import { Fact } from "../parts/Fact.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { moneyTabs, requestsTab, UserTabs } from "../parts/UserTabs.tsx";
import type { ClosedUser } from "../people/queries.ts";
import classes from "./ParticipantPage.module.css";

/** A closed account: when, by whom and why it was closed, and what stays under its id. `stale` says what is old. */
export function ClosedUserPage({ user, stale }: { user: ClosedUser; stale: ReactNode }) {
  const can = useCan();
  const { userId, closure } = user;
  return (
    <>
      <PageHeader
        title={userId}
        actions={
          <>
            <SavedViews page="user" />
            {can("audit.read") && (
              <Button
                component={Link}
                href={`/trail?subject=${encodeURIComponent(userId)}`}
                variant="default"
                leftSection={<LogIcon />}
              >
                What operators did
              </Button>
            )}
          </>
        }
      />
      {stale}
      <div className={classes.stale}>
        <WarningNote>
          The account is closed, and nothing can be done to it any more. What was personal is erased: profile,
          verification, sessions, API keys, activity, notices, notes. Orders, trades and movements of money
          stay under its id.
        </WarningNote>
      </div>
      <Card>
        <dl className={classes.facts}>
          <Fact name="User id">
            <CopyText text={userId} name="user id" />
          </Fact>
          <Fact name="Closed">
            <TimeText milliseconds={Date.parse(user.closedAt)} />
          </Fact>
          {closure === null ? (
            <Fact name="Closed by">the user</Fact>
          ) : (
            <>
              <Fact name="Asked for by">{closure.requestedBy}</Fact>
              <Fact name="Because">{closure.reason}</Fact>
              <Fact name="Approved by">{closure.approvedBy}</Fact>
              <Fact name="Approved because">{closure.approvalReason}</Fact>
            </>
          )}
        </dl>
      </Card>
      <UserTabs tabs={[...moneyTabs(user), requestsTab(userId)]} />
    </>
  );
}
