import { Button } from "@mantine/core";
import { CheckCircleIcon, CopyIcon, PersonAddIcon, PersonIcon, StopIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import type { RowAction } from "#lib/components/RowMenu.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { Pager } from "#lib/components/Pager.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { useParticipants } from "../engine/queries.ts";
import { explainIfAny } from "../engine/messages.ts";
import { useSession } from "../engine/session.ts";
import { useOperatedParticipants, useSource } from "../operator/participants.ts";
import { useCan } from "../operator/session.ts";
import { FreezeState } from "../parts/badges.tsx";
import { FilterBar, TextFilter } from "../parts/filters.tsx";
import { ActivationDialog, useActivationFault } from "../parts/ActivationDialog.tsx";
import { freezeAction, FreezeDialog } from "../parts/FreezeDialog.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { seenByAdministrator, type SeenParticipant } from "../parts/seenParticipant.ts";
import { ParticipantLink } from "../parts/ParticipantLink.tsx";

const COLUMNS: readonly Column<SeenParticipant>[] = [
  { id: "id", title: "Participant", cell: (row) => <ParticipantLink id={row.participantId} /> },
  { id: "name", title: "Name", cell: (row) => row.name || "–" },
  { id: "type", title: "Type", cell: (row) => row.type },
  { id: "stp", title: "Self-trade prevention", cell: (row) => row.stpMode },
  { id: "state", title: "State", cell: (row) => <FreezeState state={row.state} /> },
  { id: "created", title: "Created", cell: (row) => <TimeText milliseconds={row.createdAt} /> },
];

export function ParticipantsPage() {
  const url = useUrlState();
  const isOperated = useSource("participants.read") === "edge";
  const ofEngine = useParticipants(url.page, !isOperated);
  const ofEdge = useOperatedParticipants(url.page, isOperated);
  const query = isOperated ? ofEdge : ofEngine;
  const rows: readonly SeenParticipant[] | undefined = isOperated
    ? ofEdge.data?.participants
    : ofEngine.data?.participants.map(seenByAdministrator);
  const hasEngine = useSession().session !== null;
  const mayFreeze = useCan()("risk.freeze_participant");
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<{ kind: "activation" | "freeze"; row: SeenParticipant } | null>(null);
  const faultOf = useActivationFault();
  const open = (id: string) => navigate(`/participants/${encodeURIComponent(id)}`);
  return (
    <>
      <PageHeader
        title="Participants"
        actions={
          <>
            {isOperated && (
              <SaveAsFile path="participants/all" name="participants" needs="users.export" given={{}} />
            )}
            {hasEngine && (
              <Button component={Link} href="/participants/new" leftSection={<PersonAddIcon />}>
                New participant
              </Button>
            )}
          </>
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
          rows={rows}
          rowId={(row) => row.participantId}
          rowName={(row) => row.participantId}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState title="No participants on this page">
              Go back to the first page, or create a participant.
            </EmptyState>
          }
          actions={(row): RowAction[] => [
            { label: "Open", icon: <PersonIcon />, onClick: () => open(row.participantId) },
            {
              label: "Copy participant id",
              icon: <CopyIcon />,
              onClick: () => copyAndTell(row.participantId),
            },
            ...(isOperated && mayFreeze ? [freezeAction(row, () => setAsked({ kind: "freeze", row }))] : []),
            ...(hasEngine
              ? [
                  {
                    label: row.state === "active" ? "Deactivate…" : "Activate…",
                    icon: row.state === "active" ? <StopIcon /> : <CheckCircleIcon />,
                    danger: row.state === "active",
                    disabledReason: faultOf(row),
                    onClick: () => setAsked({ kind: "activation", row }),
                  },
                ]
              : []),
          ]}
          footer={<Pager page={url.page} total={query.data?.total ?? 0} onChange={url.setPage} />}
        />
      </Card>
      {asked?.kind === "activation" && (
        <ActivationDialog participant={asked.row} onClose={() => setAsked(null)} />
      )}
      {asked?.kind === "freeze" && <FreezeDialog participant={asked.row} onClose={() => setAsked(null)} />}
    </>
  );
}
