import { Button } from "@mantine/core";
import { LogIcon, SyncIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Badge, type Tone } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatCount } from "#lib/counts.ts";
import { explainIfAny } from "../engine/messages.ts";
import { returned } from "../operator/client.ts";
import { meaningOf, restartFault, type SupervisedProcess, useProcesses } from "../operator/processes.ts";
import { useCan } from "../operator/session.ts";
import { LogDialog } from "./LogDialog.tsx";
import { ReasonDialog } from "./ReasonDialog.tsx";

const STATES: Record<SupervisedProcess["state"], readonly [Tone, string, string]> = {
  RUNNING: ["positive", "●", "Runs"],
  RESTARTING: ["warning", "◐", "Restarts"],
  STOPPED: ["neutral", "○", "Stopped"],
};
const NO_LOGS = "You lack the permission logs.read.";

const COLUMNS: readonly Column<SupervisedProcess>[] = [
  { id: "process", title: "Process", cell: ({ title }) => title },
  {
    id: "state",
    title: "State",
    cell: ({ state }) => {
      const [tone, shape, word] = STATES[state];
      return (
        <Badge tone={tone} shape={shape}>
          {word}
        </Badge>
      );
    },
  },
  {
    id: "since",
    title: "Since",
    cell: ({ startedAtMs }) => (startedAtMs === 0 ? "–" : <TimeText milliseconds={startedAtMs} />),
  },
  { id: "restarts", title: "Restarts", align: "right", cell: ({ restarts }) => formatCount(restarts) },
  { id: "failure", title: "Last restart", cell: ({ failure }) => (failure === "" ? "–" : failure) },
];

/** What `openspot up` runs: since when, how often it was restarted, its log, and a restart. */
export function ProcessesCard() {
  const query = useProcesses();
  const can = useCan();
  const [shown, setShown] = useState<{ name: string; title: string } | null>(null);
  const [restarted, setRestarted] = useState<SupervisedProcess | null>(null);
  const noLogs = can("logs.read") ? undefined : NO_LOGS;
  const everyLog = (
    <Button
      variant="default"
      leftSection={<LogIcon />}
      disabled={noLogs !== undefined}
      title={noLogs}
      onClick={() => setShown({ name: "", title: "all processes" })}
    >
      Whole log
    </Button>
  );
  return (
    <Card title="Processes" actions={query.data?.reason === "" && everyLog} flush>
      <DataTable
        label="Processes"
        columns={COLUMNS}
        rows={query.data?.processes}
        rowId={({ name }) => name}
        rowName={({ title }) => title}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title="Nobody can restart anything here">
            {query.data?.reason ?? "The processes are not known."}
          </EmptyState>
        }
        isWhole
        actions={(row) => [
          { label: "Log", icon: <LogIcon />, disabledReason: noLogs, onClick: () => setShown(row) },
          {
            label: "Restart…",
            icon: <SyncIcon />,
            danger: true,
            disabledReason: restartFault(row, can),
            onClick: () => setRestarted(row),
          },
        ]}
      />
      {shown && <LogDialog process={shown.name} title={shown.title} onClose={() => setShown(null)} />}
      {restarted && <RestartDialog process={restarted} onClose={() => setRestarted(null)} />}
    </Card>
  );
}

function RestartDialog({ process, onClose }: { process: SupervisedProcess; onClose: () => void }) {
  return (
    <ReasonDialog
      title={`Restart ${process.title}?`}
      confirm="Restart"
      danger
      act={({ rest }, reason) =>
        returned(
          rest.POST("/api/v1/operator/processes/{process}/restart", {
            params: { path: { process: process.name } },
            body: { pid: process.pid, reason },
          }),
        )
      }
      done={() => ["The restart has begun", `${process.title} ends, and is started again.`]}
      onClose={onClose}
    >
      It finishes what it has begun, ends, and starts again. Nothing is lost. {meaningOf(process)}
    </ReasonDialog>
  );
}
