import { CopyIcon, DiffIcon, PersonIcon } from "@primer/octicons-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import type { RowAction } from "#lib/components/RowMenu.tsx";
import { Pager } from "#lib/components/Pager.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { formatCount } from "#lib/counts.ts";
import { compareDecimals } from "#lib/decimal.ts";
import { clampPage } from "#lib/paging.ts";
import { arrange, type UrlState } from "#lib/urlState.ts";
import { useBalances } from "../engine/queries.ts";
import { explainIfAny } from "../engine/messages.ts";
import { useSession } from "../engine/session.ts";
import { useOperatedBalances, useSource } from "../operator/participants.ts";
import { AdjustBalanceDialog } from "./AdjustBalanceDialog.tsx";
import { ParticipantLink, useOpensParticipants } from "./ParticipantLink.tsx";

const AMOUNTS = [
  { id: "total", title: "Total" },
  { id: "available", title: "Available" },
  { id: "locked", title: "Locked" },
  { id: "reserved", title: "Reserved" },
] as const;

interface Balance {
  participantId: string;
  currency: string;
  total: string;
  available: string;
  locked: string;
  reserved: string;
}

function columnsOf(showsParticipant: boolean): Column<Balance>[] {
  const participant: Column<Balance> = {
    id: "participant",
    title: "Participant",
    cell: (row) => <ParticipantLink id={row.participantId} />,
    compare: (a, b) => a.participantId.localeCompare(b.participantId, "en"),
  };
  return [
    ...(showsParticipant ? [participant] : []),
    {
      id: "currency",
      title: "Currency",
      cell: (row) => row.currency,
      compare: (a, b) => a.currency.localeCompare(b.currency, "en"),
    },
    ...AMOUNTS.map(({ id, title }): Column<Balance> => ({
      id,
      title,
      align: "right",
      cell: (row) => <Amount value={row[id]} />,
      compare: (a, b) => compareDecimals(a[id], b[id]),
    })),
  ];
}

interface BalancesTableProps {
  participantId: string;
  currency: string;
  url: UrlState;
  /** What stands above the table. */
  toolbar?: ReactNode;
  showsParticipant?: boolean;
}

/** Balances of a participant, or of all with the way to adjust one. */
export function BalancesTable({
  participantId,
  currency,
  url,
  toolbar,
  showsParticipant = true,
}: BalancesTableProps) {
  const isOperated = useSource("balances.read_all") === "edge";
  const ofEngine = useBalances(participantId, !isOperated);
  const ofEdge = useOperatedBalances(participantId, currency, isOperated);
  const query = isOperated ? ofEdge : ofEngine;
  const balances: readonly Balance[] | undefined = isOperated ? ofEdge.data?.balances : ofEngine.data;
  const left = (ofEdge.data?.total ?? 0) - (ofEdge.data?.balances.length ?? 0);
  const hasEngine = useSession().session !== null;
  const opensParticipants = useOpensParticipants();
  const [, navigate] = useLocation();
  const [adjusted, setAdjusted] = useState<Balance | null>(null);
  const columns = columnsOf(showsParticipant);
  const rows = balances?.filter((row) => currency === "" || row.currency === currency);
  const page = clampPage(url.page, rows?.length ?? 0);
  const compare = columns.find(({ id }) => id === url.sort?.column)?.compare;
  return (
    <>
      <DataTable
        label="Balances"
        toolbar={
          <>
            {toolbar}
            {left > 0 && (
              <span>
                {currency === "" ? "The first" : "The largest"} {formatCount(rows?.length ?? 0)}. Enter a
                participant to see one of the other {formatCount(left)}.
              </span>
            )}
          </>
        }
        columns={columns}
        rows={rows && arrange(rows, compare, url.sort?.descending ?? false, page)}
        rowId={(row) => `${row.participantId} ${row.currency}`}
        rowName={(row) => `${row.currency} of ${row.participantId}`}
        state={query}
        problem={explainIfAny(query.error)}
        sort={url.sort}
        onSort={url.toggleSort}
        empty={
          <EmptyState
            title={(showsParticipant && participantId) || currency ? "No balance matches" : "No balances yet"}
          >
            A balance comes with the first deposit or adjustment.
          </EmptyState>
        }
        actions={(row): RowAction[] => [
          {
            label: "Copy total",
            icon: <CopyIcon />,
            onClick: () => copyAndTell(row.total),
          },
          ...(showsParticipant && hasEngine
            ? [
                {
                  label: "Adjust at the engine alone…",
                  icon: <DiffIcon />,
                  onClick: () => setAdjusted(row),
                },
              ]
            : []),
          ...(showsParticipant && opensParticipants
            ? [
                {
                  label: "Open participant",
                  icon: <PersonIcon />,
                  onClick: () => navigate(`/participants/${encodeURIComponent(row.participantId)}`),
                },
              ]
            : []),
        ]}
        footer={<Pager page={page} total={rows?.length ?? 0} onChange={url.setPage} />}
      />
      {adjusted && (
        <AdjustBalanceDialog
          participantId={adjusted.participantId}
          currency={adjusted.currency}
          onClose={() => setAdjusted(null)}
        />
      )}
    </>
  );
}
