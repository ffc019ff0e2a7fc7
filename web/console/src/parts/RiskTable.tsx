import { ListUnorderedIcon, PersonIcon } from "@primer/octicons-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import type { RowAction } from "#lib/components/RowMenu.tsx";
import { Pager } from "#lib/components/Pager.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { formatCount } from "#lib/counts.ts";
import { shareOf } from "#lib/arithmetic.ts";
import { compareDecimals, formatDecimal } from "#lib/decimal.ts";
import { clampPage } from "#lib/paging.ts";
import { arrange, type UrlState } from "#lib/urlState.ts";
import { useRiskMetrics } from "../engine/queries.ts";
import { explainIfAny } from "../engine/messages.ts";
import { useSession } from "../engine/session.ts";
import { type ParticipantState, useOperatedRisk, useSource } from "../operator/participants.ts";
import { useCan } from "../operator/session.ts";
import { FreezeState } from "./badges.tsx";
import { type Freezable, freezeAction, FreezeDialog } from "./FreezeDialog.tsx";
import { ParticipantLink, useOpensParticipants } from "./ParticipantLink.tsx";
import classes from "./RiskTable.module.css";

interface RiskMetric {
  participantId: string;
  currency: string;
  total: string;
  locked: string;
  utilisationPercent: string;
  openOrders: number;
  /** What the REST edge alone tells. */
  state?: ParticipantState;
  freezable?: boolean;
}

function isFreezable(row: RiskMetric): row is RiskMetric & Freezable {
  return row.state !== undefined && row.freezable !== undefined;
}

function columnsOf(showsParticipant: boolean, showsState: boolean): Column<RiskMetric>[] {
  const participant: Column<RiskMetric> = {
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
    {
      id: "total",
      title: "Total",
      align: "right",
      cell: (row) => <Amount value={row.total} unit={row.currency} />,
      compare: (a, b) => compareDecimals(a.total, b.total),
    },
    {
      id: "locked",
      title: "Locked",
      align: "right",
      cell: (row) => <Amount value={row.locked} unit={row.currency} />,
      compare: (a, b) => compareDecimals(a.locked, b.locked),
    },
    {
      id: "utilisation",
      title: "Utilisation",
      align: "right",
      cell: (row) => <Utilisation percent={row.utilisationPercent} />,
      compare: (a, b) => compareDecimals(a.utilisationPercent, b.utilisationPercent),
    },
    {
      id: "orders",
      title: "Open orders",
      align: "right",
      cell: (row) => <span className="figures">{formatCount(row.openOrders)}</span>,
      compare: (a, b) => a.openOrders - b.openOrders,
    },
    ...(showsState
      ? [
          {
            id: "state",
            title: "State",
            cell: ({ state }: RiskMetric) => state && <FreezeState state={state} />,
          },
        ]
      : []),
  ];
}

/** Locked ÷ total, as a figure and a bar. */
function Utilisation({ percent }: { percent: string }) {
  const share = shareOf(percent, "100");
  return (
    <span className={classes.utilisation}>
      <span className={classes.track} aria-hidden>
        <span
          className={classes.bar}
          data-high={share >= 0.9 || undefined}
          style={{ width: `${share * 100}%` }}
        />
      </span>
      <span className="figures">{formatDecimal(percent)} %</span>
    </span>
  );
}

interface RiskTableProps {
  participantId: string;
  url: UrlState;
  /** What stands above the table. */
  toolbar?: ReactNode;
  showsParticipant?: boolean;
}

/** How much of each balance open orders lock. */
export function RiskTable({ participantId, url, toolbar, showsParticipant = true }: RiskTableProps) {
  const isOperated = useSource("risk.read") === "edge";
  const ofEngine = useRiskMetrics(participantId, !isOperated);
  const ofEdge = useOperatedRisk(participantId, isOperated);
  const query = isOperated ? ofEdge : ofEngine;
  const metrics: readonly RiskMetric[] | undefined = isOperated ? ofEdge.data?.metrics : ofEngine.data;
  const left = (ofEdge.data?.total ?? 0) - (ofEdge.data?.metrics.length ?? 0);
  const hasEngine = useSession().session !== null;
  const mayFreeze = useCan()("risk.freeze_participant");
  const opensParticipants = useOpensParticipants();
  const [, navigate] = useLocation();
  const [frozen, setFrozen] = useState<Freezable | null>(null);
  const columns = columnsOf(showsParticipant, isOperated);
  const page = clampPage(url.page, metrics?.length ?? 0);
  const compare = columns.find(({ id }) => id === url.sort?.column)?.compare;
  const actionsOf = (row: RiskMetric): RowAction[] => [
    ...(hasEngine
      ? [
          {
            label: "Show its open orders",
            icon: <ListUnorderedIcon />,
            onClick: () =>
              navigate(`/orders?participant=${encodeURIComponent(row.participantId)}&status=OPEN`),
          },
        ]
      : []),
    ...(opensParticipants && showsParticipant
      ? [
          {
            label: "Open participant",
            icon: <PersonIcon />,
            onClick: () => navigate(`/participants/${encodeURIComponent(row.participantId)}`),
          },
        ]
      : []),
    ...(isFreezable(row) && mayFreeze ? [freezeAction(row, () => setFrozen(row))] : []),
  ];
  const hasActions = hasEngine || (opensParticipants && showsParticipant) || (isOperated && mayFreeze);
  return (
    <>
      <DataTable
        label="Risk metrics"
        toolbar={
          <>
            {toolbar}
            {left > 0 && (
              <span>
                The {formatCount(metrics?.length ?? 0)} with the largest utilisation. Enter a participant to
                see one of the other {formatCount(left)}.
              </span>
            )}
          </>
        }
        columns={columns}
        rows={metrics && arrange(metrics, compare, url.sort?.descending ?? false, page)}
        rowId={(row) => `${row.participantId} ${row.currency}`}
        rowName={(row) => `${row.currency} of ${row.participantId}`}
        state={query}
        problem={explainIfAny(query.error)}
        sort={url.sort}
        onSort={url.toggleSort}
        empty={
          <EmptyState title={participantId ? "No balance matches" : "Nothing is at risk"}>
            Metrics come with the first balance.
          </EmptyState>
        }
        {...(hasActions ? { actions: actionsOf } : {})}
        footer={<Pager page={page} total={metrics?.length ?? 0} onChange={url.setPage} />}
      />
      {frozen && <FreezeDialog participant={frozen} onClose={() => setFrozen(null)} />}
    </>
  );
}
