import { Button, Stack } from "@mantine/core";
import { CopyIcon, PencilIcon, PersonAddIcon, SignOutIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { programName } from "#lib/userAgent.ts";
import { explainIfAny } from "../engine/messages.ts";
import {
  type OperatorSession,
  type OperatorUser,
  useOperators,
  useOperatorSessions,
} from "../operator/queries.ts";
import { useActingName, useCan } from "../operator/session.ts";
import { NewOperatorDialog, RolesDialog, SessionEndDialog } from "../parts/OperatorDialogs.tsx";

const OPERATOR_COLUMNS: readonly Column<OperatorUser>[] = [
  { id: "email", title: "E-mail address", cell: ({ email }) => email },
  { id: "name", title: "Name", cell: ({ displayName }) => displayName ?? "–" },
  { id: "roles", title: "Roles", cell: ({ roles }) => roles.join(", ") },
  {
    id: "factor",
    title: "Second factor",
    cell: ({ secondFactor }) => (
      <Badge tone={secondFactor ? "positive" : "warning"} shape={secondFactor ? "●" : "◐"}>
        {secondFactor ? "On" : "Missing"}
      </Badge>
    ),
  },
  {
    id: "changed",
    title: "Changed",
    cell: ({ changedAt }) => <TimeText milliseconds={Date.parse(changedAt)} />,
  },
];

const SESSION_COLUMNS: readonly Column<OperatorSession>[] = [
  {
    id: "email",
    title: "E-mail address",
    cell: ({ email, current }) => (current ? `${email} (this session)` : email),
  },
  { id: "address", title: "Address", cell: ({ address }) => <span className="figures">{address}</span> },
  { id: "program", title: "Program", cell: ({ userAgent }) => programName(userAgent) },
  { id: "began", title: "Began", cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} /> },
  {
    id: "used",
    title: "Last renewed",
    cell: ({ lastUsedAt }) => <TimeText milliseconds={Date.parse(lastUsedAt)} />,
  },
];

type Asked = { change: OperatorUser } | { end: OperatorSession } | "new" | null;

/** Who runs the exchange, in which roles, and from where. */
export function OperatorsPage() {
  const operators = useOperators();
  const sessions = useOperatorSessions();
  const can = useCan();
  const me = useActingName();
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const lacksGrant = can("permissions.grant") ? undefined : "It needs the permission permissions.grant.";
  return (
    <>
      <PageHeader
        title="Operators"
        actions={
          lacksGrant === undefined && (
            <Button leftSection={<PersonAddIcon />} onClick={() => setAsked("new")}>
              New operator
            </Button>
          )
        }
      >
        Users who run the exchange, and their sessions. Roles open nothing before a user has a second factor.
      </PageHeader>
      <Stack gap="md">
        <Card title="Operators" flush>
          <DataTable
            label="Operators"
            columns={OPERATOR_COLUMNS}
            rows={operators.data}
            rowId={({ userId }) => userId}
            rowName={({ email }) => email}
            state={operators}
            problem={explainIfAny(operators.error)}
            empty={
              <EmptyState title="No user is an operator">
                Participants of type SUPER_ADMIN and SYSTEM do everything until you make users operators here,
                or with `openspot operators add`.
              </EmptyState>
            }
            actions={(operator) => [
              {
                label: "Change roles…",
                icon: <PencilIcon />,
                disabledReason:
                  me === `user:${operator.userId}` ? "Another administrator changes your roles." : lacksGrant,
                onClick: () => setAsked({ change: operator }),
              },
              { label: "Copy id", icon: <CopyIcon />, onClick: () => copyAndTell(operator.userId) },
            ]}
          />
        </Card>
        <Card title="Sessions" flush>
          <DataTable
            label="Sessions of operators"
            columns={SESSION_COLUMNS}
            rows={sessions.data}
            rowId={({ sessionId }) => sessionId}
            rowName={({ email, address }) => `${email} at ${address}`}
            state={sessions}
            problem={explainIfAny(sessions.error)}
            empty={
              <EmptyState title="No operator is logged in">
                Sessions with the engine are not listed: the engine keeps none.
              </EmptyState>
            }
            actions={(session) => [
              {
                label: "End…",
                icon: <SignOutIcon />,
                danger: true,
                disabledReason: can("operators.end_sessions")
                  ? undefined
                  : "It needs the permission operators.end_sessions.",
                onClick: () => setAsked({ end: session }),
              },
              { label: "Copy id", icon: <CopyIcon />, onClick: () => copyAndTell(session.sessionId) },
            ]}
          />
        </Card>
      </Stack>
      {asked === "new" && <NewOperatorDialog onClose={close} />}
      {asked !== null && asked !== "new" && "change" in asked && (
        <RolesDialog operator={asked.change} onClose={close} />
      )}
      {asked !== null && asked !== "new" && "end" in asked && (
        <SessionEndDialog session={asked.end} onClose={close} />
      )}
    </>
  );
}
