import { ListUnorderedIcon, PersonIcon } from "@primer/octicons-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import type { RiskMetric } from "#gen/exchange/v1/admin_pb.ts";
import { Amount } from "#lib/components/Amount.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { Pager } from "#lib/components/Pager.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { formatCount } from "#lib/counts.ts";
import { shareOf } from "#lib/arithmetic.ts";
import { compareDecimals, formatDecimal } from "#lib/decimal.ts";
import { clampPage } from "#lib/paging.ts";
import { arrange, type UrlState } from "#lib/urlState.ts";
import { useRiskMetrics } from "../engine/queries.ts";
import { explainIfAny } from "../engine/messages.ts";
import { ParticipantLink } from "./ParticipantLink.tsx";
import classes from "./RiskTable.module.css";

function columnsOf(showsParticipant: boolean): Column<RiskMetric>[] {
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
  const query = useRiskMetrics(participantId);
  const [, navigate] = useLocation();
  const columns = columnsOf(showsParticipant);
  const page = clampPage(url.page, query.data?.length ?? 0);
  const compare = columns.find(({ id }) => id === url.sort?.column)?.compare;
  return (
    <DataTable
      label="Risk metrics"
      toolbar={toolbar}
      columns={columns}
      rows={query.data && arrange(query.data, compare, url.sort?.descending ?? false, page)}
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
      actions={(row) => [
        {
          label: "Show its open orders",
          icon: <ListUnorderedIcon />,
          onClick: () => navigate(`/orders?participant=${encodeURIComponent(row.participantId)}&status=OPEN`),
        },
        ...(showsParticipant
          ? [
              {
                label: "Open participant",
                icon: <PersonIcon />,
                onClick: () => navigate(`/participants/${encodeURIComponent(row.participantId)}`),
              },
            ]
          : []),
      ]}
      footer={<Pager page={page} total={query.data?.length ?? 0} onChange={url.setPage} />}
    />
  );
}
