import { Button } from "@mantine/core";
import { CheckCircleIcon, CopyIcon, PersonAddIcon, PersonIcon, StopIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { Participant } from "#gen/exchange/v1/admin_pb.ts";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { Pager } from "#lib/components/Pager.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { useParticipants } from "../engine/queries.ts";
import { explainIfAny } from "../engine/messages.ts";
import { ActiveState } from "../parts/badges.tsx";
import { FilterBar, TextFilter } from "../parts/filters.tsx";
import { ActivationDialog, useActivationFault } from "../parts/ActivationDialog.tsx";
import { ParticipantLink } from "../parts/ParticipantLink.tsx";

const COLUMNS: readonly Column<Participant>[] = [
  { id: "id", title: "Participant", cell: (row) => <ParticipantLink id={row.participantId} /> },
  { id: "name", title: "Name", cell: (row) => row.name || "–" },
  { id: "type", title: "Type", cell: (row) => row.type },
  { id: "stp", title: "Self-trade prevention", cell: (row) => row.stpMode },
  { id: "state", title: "State", cell: (row) => <ActiveState active={row.active} /> },
  { id: "created", title: "Created", cell: (row) => <TimeText milliseconds={row.createdAt} /> },
];

export function ParticipantsPage() {
  const url = useUrlState();
  const query = useParticipants(url.page);
  const [, navigate] = useLocation();
  const [changed, setChanged] = useState<Participant | null>(null);
  const faultOf = useActivationFault();
  const open = (id: string) => navigate(`/participants/${encodeURIComponent(id)}`);
  return (
    <>
      <PageHeader
        title="Participants"
        actions={
          <Button component={Link} href="/participants/new" leftSection={<PersonAddIcon />}>
            New participant
          </Button>
        }
      >
        Everybody who has an account in the engine, in the order in which the accounts were made.
      </PageHeader>
      <Card flush>
        <DataTable
          label="Participants"
          toolbar={
            <FilterBar isFiltered={false} onClear={() => undefined}>
              <TextFilter label="Open by participant id" value="" onChange={(id) => id !== "" && open(id)} />
            </FilterBar>
          }
          columns={COLUMNS}
          rows={query.data?.participants}
          rowId={(row) => row.participantId}
          rowName={(row) => row.participantId}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState title="No participants on this page">
              Go back to the first page, or create a participant.
            </EmptyState>
          }
          actions={(row) => [
            { label: "Open", icon: <PersonIcon />, onClick: () => open(row.participantId) },
            {
              label: "Copy participant id",
              icon: <CopyIcon />,
              onClick: () => copyAndTell(row.participantId),
            },
            {
              label: row.active ? "Deactivate…" : "Activate…",
              icon: row.active ? <StopIcon /> : <CheckCircleIcon />,
              danger: row.active,
              disabledReason: faultOf(row),
              onClick: () => setChanged(row),
            },
          ]}
          footer={<Pager page={url.page} total={query.data?.total ?? 0} onChange={url.setPage} />}
        />
      </Card>
      {changed && <ActivationDialog participant={changed} onClose={() => setChanged(null)} />}
    </>
  );
}
