import { CheckIcon, PersonIcon, XCircleIcon } from "@primer/octicons-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { explainIfAny } from "../engine/messages.ts";
import { useActingName } from "../operator/session.ts";
import { type OperatorRequest, type RequestFilter, useRequests } from "../people/queries.ts";
import { isOfTheHouse, REQUEST_TITLES, RequestDialog, RequestSummary } from "./ApprovalDialogs.tsx";
import { RequestBadge } from "./PersonBadges.tsx";
import { UserLink } from "./UserLink.tsx";

const COLUMNS: readonly Column<OperatorRequest>[] = [
  { id: "asked", title: "Asked", cell: (row) => <TimeText milliseconds={Date.parse(row.requestedAt)} /> },
  { id: "what", title: "What", cell: (row) => <RequestSummary request={row} /> },
  {
    id: "user",
    title: "User",
    cell: (row) => (isOfTheHouse(row) ? row.userId : <UserLink id={row.userId} />),
  },
  { id: "by", title: "Asked by", cell: (row) => row.requestedBy },
  { id: "reason", title: "Reason", cell: (row) => row.reason },
  { id: "state", title: "State", cell: (row) => <RequestBadge request={row} /> },
  { id: "decided", title: "Decided by", cell: (row) => row.decidedBy ?? "–" },
];

/** The person behind an operator's name: a user and the participant of the same id are one. */
export function personOf(operator: string): string {
  return operator.slice(operator.indexOf(":") + 1).toLowerCase();
}

/** Why `operator` cannot approve a request, or undefined. The edge itself checks it again. */
export function requestFault(request: OperatorRequest, operator: string, now: number): string | undefined {
  if (request.status !== "waiting") return "It is decided.";
  if (Date.parse(request.expiresAt) <= now) return "It has expired. Ask for it anew.";
  if (personOf(request.requestedBy) === personOf(operator))
    return "You asked for it. Another person has to approve.";
  return request.userId.toLowerCase() === personOf(operator) ? "It is your own account." : undefined;
}

interface Props {
  filter: RequestFilter;
  toolbar?: ReactNode;
}

/** What operators asked for, with the way to decide on it. */
export function RequestsTable({ filter, toolbar }: Props) {
  const { query, rows } = useRequests(filter);
  const operator = useActingName();
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<{
    request: OperatorRequest;
    decision: "approval" | "rejection";
  } | null>(null);
  return (
    <>
      <DataTable
        label="Requests"
        toolbar={toolbar}
        columns={COLUMNS}
        rows={rows}
        rowId={({ id }) => id}
        rowName={(row) => `${REQUEST_TITLES[row.kind]} of ${row.userId}`}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title="Nothing waits for another person">
            Resets of a second factor, closures of accounts, larger adjustments and larger movements of the
            house&apos;s money appear here.
          </EmptyState>
        }
        actions={(request) => [
          {
            label: "Approve…",
            icon: <CheckIcon />,
            disabledReason: requestFault(request, operator, Date.now()),
            onClick: () => setAsked({ request, decision: "approval" }),
          },
          {
            label: isOfTheHouse(request) ? "Open the treasury" : "Open user",
            icon: <PersonIcon />,
            onClick: () =>
              navigate(isOfTheHouse(request) ? "/treasury" : `/users/${encodeURIComponent(request.userId)}`),
          },
          {
            label: "Reject…",
            icon: <XCircleIcon />,
            danger: true,
            disabledReason: request.status === "waiting" ? undefined : "It is decided.",
            onClick: () => setAsked({ request, decision: "rejection" }),
          },
        ]}
        footer={<ShowOlder query={query} />}
      />
      {asked && <RequestDialog {...asked} onClose={() => setAsked(null)} />}
    </>
  );
}
