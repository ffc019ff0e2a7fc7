import { Stack } from "@mantine/core";
import { PaperAirplaneIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Badge, type Tone } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatCount } from "#lib/counts.ts";
import { explainIfAny } from "../engine/messages.ts";
import { type Alert, type Destination, outcomeOf, type TriedAlert, useAlerts } from "../operator/alerts.ts";
import { returned } from "../operator/client.ts";
import { useCan } from "../operator/session.ts";
import { ReasonDialog } from "../parts/ReasonDialog.tsx";
import classes from "./AlertsPage.module.css";

const sentence = (text: string) => <span className={classes.sentence}>{text}</span>;

const STATES: Record<Alert["state"], readonly [Tone, string, string]> = {
  raised: ["negative", "✕", "Raised"],
  pending: ["warning", "◐", "Begins"],
  fine: ["positive", "●", "Fine"],
  unknown: ["neutral", "○", "Nothing seen"],
};

function time(text: string | null) {
  return text === null ? "never" : <TimeText milliseconds={Date.parse(text)} />;
}

const COLUMNS: readonly Column<Alert>[] = [
  { id: "alert", title: "Alert", cell: (row) => <span className={classes.title}>{row.title}</span> },
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
  { id: "urgency", title: "Urgency", cell: (row) => (row.severity === "page" ? "at once" : "next day") },
  { id: "told", title: "Last told", cell: (row) => time(row.lastToldAt) },
  { id: "why", title: "Why", cell: (row) => sentence(row.text === "" ? `when ${row.condition}` : row.text) },
  { id: "first", title: "First", cell: (row) => sentence(row.action) },
];

const DESTINATION_COLUMNS: readonly Column<Destination>[] = [
  { id: "where", title: "Destination", cell: (row) => row.name },
  {
    id: "last",
    title: "Last attempt",
    cell: ({ fault }) =>
      fault === null ? (
        "none yet"
      ) : (
        <Badge tone={fault === "" ? "positive" : "negative"} shape={fault === "" ? "●" : "✕"}>
          {fault === "" ? "Taken" : fault}
        </Badge>
      ),
  },
  { id: "at", title: "At", cell: (row) => time(row.lastAt) },
  { id: "waiting", title: "Wait", align: "right", cell: (row) => formatCount(row.waiting) },
  { id: "hour", title: "This hour", align: "right", cell: (row) => formatCount(row.sentThisHour) },
];

/** What operators are told of, whether it is so now, and where it goes. */
export function AlertsPage() {
  const query = useAlerts();
  const can = useCan();
  const [tried, setTried] = useState<Alert | null>(null);
  const problem = explainIfAny(query.error);
  return (
    <>
      <PageHeader title="Alerts">
        What operators are told by mail and webhook, and whether it is so now. A try sends a test to every
        destination.
      </PageHeader>
      <Stack gap="md">
        <Card flush>
          <DataTable
            label="Alerts"
            columns={COLUMNS}
            rows={query.data?.alerts}
            rowId={({ kind }) => kind}
            rowName={({ title }) => title}
            state={query}
            problem={problem}
            empty={<EmptyState title="No alerts">The service of alerts knows none.</EmptyState>}
            isWhole
            actions={(row) => [
              {
                label: "Try it…",
                icon: <PaperAirplaneIcon />,
                disabledReason: can("alerts.try") ? undefined : "You lack the permission alerts.try.",
                onClick: () => setTried(row),
              },
            ]}
          />
        </Card>
        {query.data && (
          <Card title="Where they go" flush>
            <DataTable
              label="Destinations"
              columns={DESTINATION_COLUMNS}
              rows={query.data.destinations}
              rowId={({ name }) => name}
              rowName={({ name }) => name}
              state={query}
              problem={null}
              empty={
                <EmptyState title="Nobody is told">
                  Set OPENSPOT_ALERT_MAILS or OPENSPOT_ALERT_WEBHOOK_URL.
                </EmptyState>
              }
              isWhole
            />
          </Card>
        )}
      </Stack>
      {tried && <TryDialog alert={tried} onClose={() => setTried(null)} />}
    </>
  );
}

function TryDialog({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  return (
    <ReasonDialog<TriedAlert>
      title="Try the alert?"
      confirm="Send the test"
      act={({ rest }, reason) =>
        returned(rest.POST("/api/v1/operator/alerts/tries", { body: { kind: alert.kind, reason } }))
      }
      done={(outcome) => [
        outcome.destinations.every(({ fault }) => fault === "")
          ? "The test was taken everywhere"
          : "The test was not taken everywhere",
        outcomeOf(outcome),
      ]}
      onClose={onClose}
    >
      <p>
        &ldquo;{alert.title}&rdquo; is sent as a test to every destination, the same way as the alert itself.
        It counts among the messages of this hour.
      </p>
    </ReasonDialog>
  );
}
