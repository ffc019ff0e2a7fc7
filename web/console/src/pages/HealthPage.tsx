import { Button, Stack } from "@mantine/core";
import { LogIcon, SyncIcon } from "@primer/octicons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Badge, type Tone } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable, type ListState } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatCount, plural } from "#lib/counts.ts";
import {
  type Difference,
  type HealthReport,
  type ProcessEnd,
  type ReconcileReport,
  type ServiceHealth,
  bookAdjustments,
  useBookingState,
  useHealth,
  startComparison,
} from "../operator/health.ts";
import { explainIfAny } from "../engine/messages.ts";
import { useCan } from "../operator/session.ts";
import { LastLinesDialog } from "../parts/LogDialog.tsx";
import { ReasonDialog } from "../parts/ReasonDialog.tsx";
import { ProcessesCard } from "../parts/ProcessesCard.tsx";
import { TimetableCard } from "../parts/TimetableCard.tsx";
import classes from "./HealthPage.module.css";

const STATES: Record<ServiceHealth["state"], { tone: Tone; shape: string; text: string }> = {
  READY: { tone: "positive", shape: "●", text: "Ready" },
  NOT_READY: { tone: "warning", shape: "◐", text: "Not ready" },
  SILENT: { tone: "negative", shape: "✕", text: "Silent" },
};

const SERVICE_COLUMNS: readonly Column<ServiceHealth>[] = [
  { id: "service", title: "Service", cell: ({ title }) => title },
  {
    id: "state",
    title: "State",
    cell: ({ state }) => (
      <Badge tone={STATES[state].tone} shape={STATES[state].shape}>
        {STATES[state].text}
      </Badge>
    ),
  },
  { id: "checks", title: "Checks", cell: (service) => <Checks service={service} /> },
  { id: "lag", title: "Still to be done", cell: (service) => <Lags service={service} /> },
];

const DIFFERENCE_COLUMNS: readonly Column<Difference>[] = [
  { id: "what", title: "What", cell: ({ kind, name }) => `${kind} ${name}` },
  { id: "field", title: "Field", cell: ({ field }) => field },
  { id: "engine", title: "Engine", align: "right", cell: ({ engine }) => <Figure text={engine} /> },
  { id: "mirror", title: "Mirror", align: "right", cell: ({ mirror }) => <Figure text={mirror} /> },
  { id: "cause", title: "Likely cause", cell: ({ cause }) => cause || "not known" },
];

const END_COLUMNS: readonly Column<ProcessEnd>[] = [
  { id: "service", title: "Service", cell: ({ title }) => title },
  { id: "at", title: "Ended", cell: ({ atMs }) => <TimeText milliseconds={atMs} /> },
  { id: "why", title: "Why", cell: ({ isAsked }) => (isAsked ? "asked for" : "by itself") },
  { id: "cause", title: "Cause", cell: ({ cause }) => cause },
];

function Figure({ text }: { text: string }) {
  return <span className="figures">{text}</span>;
}

/** Failed checks with their reasons; passed ones only by their number. */
function Checks({ service }: { service: ServiceHealth }) {
  const failed = service.checks.filter(({ message }) => message !== "");
  if (failed.length === 0) {
    return service.checks.length === 0 ? "it runs" : `${plural(service.checks.length, "check")} passed`;
  }
  return (
    <ul className={classes.list}>
      {failed.map(({ name, message }) => (
        <li key={name}>
          <strong>{name}</strong>: {message}
        </li>
      ))}
    </ul>
  );
}

function Lags({ service }: { service: ServiceHealth }) {
  const waiting = service.lags.filter(({ value }) => value !== 0);
  if (waiting.length === 0) return service.lags.length === 0 ? "–" : "nothing";
  return (
    <ul className={classes.list}>
      {waiting.map(({ name, value }) => (
        <li key={name}>
          {name}: <span className="figures">{formatCount(value)}</span>
        </li>
      ))}
    </ul>
  );
}

/** How many services are well, in a sentence. */
function Summary({ services }: { services: readonly ServiceHealth[] }) {
  const well = services.filter(({ state }) => state === "READY").length;
  if (services.length === 0) return null;
  return (
    <p className={classes.summary}>
      <strong>{plural(services.length, "service")}</strong>
      {well === services.length ? ", all ready" : `, ${services.length - well} not ready`}
    </p>
  );
}

/** Every service as it sees itself, and the last comparison of the engine with its mirrors. */
export function HealthPage() {
  const query = useHealth();
  const problem = explainIfAny(query.error);
  return (
    <>
      <PageHeader title="Health">
        Every service as it sees itself, what it still has to do, the processes with their restarts and logs,
        the timetable of comparisons and backups, and the last comparison of engine, ledger and rows.
      </PageHeader>
      <Stack gap="md">
        <Card flush>
          <DataTable
            label="Services"
            toolbar={query.data && <Summary services={query.data.services} />}
            columns={SERVICE_COLUMNS}
            rows={query.data?.services}
            rowId={({ title }) => title}
            rowName={({ title }) => title}
            state={query}
            problem={problem}
            empty={
              <EmptyState title="No service is watched">
                Set OPENSPOT_WATCHED_SERVICES for the web server, or start everything with `openspot up`.
              </EmptyState>
            }
          />
        </Card>
        <ProcessesCard />
        {query.data && query.data.ends.length > 0 && <Restarts ends={query.data.ends} state={query} />}
        {query.data?.works && <TimetableCard works={query.data.works} now={query.data.at} state={query} />}
        {query.data && <LastReconcile health={query.data} />}
      </Stack>
    </>
  );
}

/** The newest ends of processes, with the last lines of each. */
function Restarts({ ends, state }: { ends: readonly ProcessEnd[]; state: ListState }) {
  const can = useCan();
  const [shown, setShown] = useState<ProcessEnd | null>(null);
  return (
    <Card title="Restarts" flush>
      <DataTable
        label="Restarts"
        columns={END_COLUMNS}
        rows={ends}
        rowId={({ process, atMs }) => `${process} ${atMs}`}
        rowName={({ title, atMs }) => `the end of ${title} at ${new Date(atMs).toISOString()}`}
        state={state}
        problem={null}
        empty={null}
        actions={(row) => [
          {
            label: "Last lines",
            icon: <LogIcon />,
            disabledReason: can("logs.read") ? undefined : "You lack the permission logs.read.",
            onClick: () => setShown(row),
          },
        ]}
      />
      {shown && <LastLinesDialog end={shown} title={shown.title} onClose={() => setShown(null)} />}
    </Card>
  );
}

function LastReconcile({ health }: { health: HealthReport }) {
  const { reconcile, reconciling, failure } = health;
  const report = reconcile?.report;
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const actions = (
    <span className={classes.actions}>
      <span role="status">{reconciling && "Comparing…"}</span>
      <Button
        variant="default"
        leftSection={<SyncIcon />}
        loading={reconciling}
        onClick={() => setAsking(true)}
      >
        Compare now…
      </Button>
    </span>
  );
  return (
    <Card title="Last reconcile" actions={actions} flush={report !== undefined}>
      {isAsking && (
        <ReasonDialog
          title="Compare the books now?"
          confirm="Compare them"
          act={startComparison}
          done={() => ["The comparison has begun", "Its outcome will stand here."]}
          onClose={() => {
            setAsking(false);
            void client.invalidateQueries({ queryKey: ["health"] });
          }}
        >
          <p>The balances, orders and trades of the engine are held against their mirrors.</p>
        </ReasonDialog>
      )}
      {failure && (
        <div className={classes.failure}>
          <WarningNote>The comparison that was asked for failed: {failure}.</WarningNote>
        </div>
      )}
      {!reconcile && (
        <EmptyState title="Not compared yet">
          The comparison holds engine, ledger, orders and trades against each other. The timetable makes one
          by itself (OPENSPOT_RECONCILE_EVERY_S).
        </EmptyState>
      )}
      {reconcile?.error && (
        <div className={report && classes.failure}>
          <WarningNote>
            The comparison of <TimeText milliseconds={reconcile.failedAt ?? reconcile.at} /> could not be
            made: {reconcile.error}. Compare again once that is mended.
            {report && " Until then, what the last one found stands below."}
          </WarningNote>
        </div>
      )}
      {reconcile && report && <Outcome at={reconcile.at} by={reconcile.startedBy ?? ""} report={report} />}
    </Card>
  );
}

/** What the engine alone has, with the button that books it. */
function Unbooked({ count }: { count: number }) {
  const can = useCan();
  const [isAsking, setAsking] = useState(false);
  const state = useBookingState();
  const may = can("balances.adjust_up") && can("balances.adjust_down");
  return (
    <div className={classes.failure}>
      {state.data?.failure && <WarningNote>Nothing was booked: {state.data.failure}.</WarningNote>}
      <p>
        The ledger lacks {plural(count, "adjustment")} of the engine.{" "}
        <Button
          variant="default"
          loading={state.data?.running ?? false}
          disabled={!may}
          title={may ? undefined : "This needs balances.adjust_up and balances.adjust_down."}
          onClick={() => setAsking(true)}
        >
          Book them…
        </Button>
      </p>
      {isAsking && (
        <ReasonDialog
          title={`Book ${plural(count, "adjustment")} in the ledger?`}
          confirm="Book them"
          act={bookAdjustments}
          done={() => ["The booking has begun", "A comparison follows it."]}
          onClose={() => setAsking(false)}
        >
          <p>
            Each gets an entry against the outside world, once. Beyond the bound of adjustments another person
            approves the list first, on the page Approvals; then book again. `openspot ledger book-adjustments
            --plan` lists them.
          </p>
        </ReasonDialog>
      )}
    </div>
  );
}

function Outcome({ at, by, report }: { at: number; by: string; report: ReconcileReport }) {
  const query = useHealth();
  const found = report.differences.length + report.unnamed;
  return (
    <>
      <p className={classes.outcome}>
        <Badge tone={found === 0 ? "positive" : "negative"} shape={found === 0 ? "●" : "✕"}>
          {found === 0 ? "No differences" : plural(found, "difference")}
        </Badge>{" "}
        <TimeText milliseconds={at} />
        {by && `, begun by ${by}`}, at event {formatCount(report.engineSequence)}:{" "}
        {plural(report.accounts, "account")}, {plural(report.orders, "order")},{" "}
        {plural(report.trades, "trade")}, {plural(report.entries, "ledger entry", "ledger entries")}
        {report.caughtUp ? "" : "; the mirrors were still behind"}
        {report.unnamed > 0 && `; ${plural(report.unnamed, "difference")} not listed`}.
      </p>
      {(report.unbookedAdjustments ?? 0) > 0 && <Unbooked count={report.unbookedAdjustments ?? 0} />}
      {report.differences.length > 0 && (
        <DataTable
          label="Differences"
          columns={DIFFERENCE_COLUMNS}
          rows={report.differences}
          rowId={({ kind, name, field }) => `${kind} ${name} ${field}`}
          rowName={({ name }) => name}
          state={{ ...query, dataUpdatedAt: 0 }}
          problem={null}
          empty={null}
        />
      )}
    </>
  );
}
