import { Button, Group } from "@mantine/core";
import { CopyIcon, EyeIcon, PersonIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../engine/messages.ts";
import { dayAfter, parametersOf, type TrailEntry, useTrail } from "../operator/queries.ts";
import { DayFilter, FilterBar, TextFilter } from "../parts/filters.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import classes from "./TrailPage.module.css";

const COLUMNS: readonly Column<TrailEntry>[] = [
  {
    id: "number",
    title: "Entry",
    align: "right",
    cell: ({ number }) => <span className="figures">{number}</span>,
  },
  { id: "time", title: "Time", cell: ({ time }) => <TimeText milliseconds={Date.parse(time)} /> },
  { id: "operator", title: "Operator", cell: ({ operator }) => <code>{operator}</code> },
  { id: "action", title: "Action", cell: ({ action }) => <code>{action}</code> },
  {
    id: "subject",
    title: "Subject",
    cell: ({ subjectKind, subjectId }) => (
      <>
        {subjectKind} <code>{subjectId}</code>
      </>
    ),
  },
  { id: "reason", title: "Reason", cell: ({ reason }) => <span className={classes.reason}>{reason}</span> },
];

/** Who did what, to whom, why, from where, and what it was before and after. */
export function TrailPage() {
  const url = useUrlState();
  const [shown, setShown] = useState<TrailEntry | null>(null);
  const day = { first: url.parameter("first"), last: url.parameter("last") };
  const filter = {
    operator: url.parameter("operator"),
    action: url.parameter("action"),
    subjectId: url.parameter("subject"),
    from: day.first,
    to: day.last === "" ? "" : dayAfter(day.last),
  };
  const cursor = url.parameter("after");
  const query = useTrail(filter, cursor);
  const isFiltered = Object.values(filter).some((value) => value !== "");
  const change = (changes: Record<string, string | null>) => url.change({ ...changes, after: null });
  return (
    <>
      <PageHeader
        title="Audit trail"
        actions={
          <>
            <SavedViews page="trail" />
            <SaveAsFile
              path="trail"
              name="operator-trail"
              needs="audit.export"
              given={parametersOf(filter)}
              holds="with addresses and every hash"
            />
          </>
        }
      >
        What operators did, newest first. Nobody can change an entry; `openspot audit verify` proves it.
      </PageHeader>
      <Card flush>
        <DataTable
          label="Audit trail"
          toolbar={
            <FilterBar
              isFiltered={isFiltered}
              onClear={() => change({ operator: null, action: null, subject: null, first: null, last: null })}
            >
              <TextFilter
                label="Operator"
                value={filter.operator}
                onChange={(operator) => change({ operator })}
              />
              <TextFilter label="Action" value={filter.action} onChange={(action) => change({ action })} />
              <TextFilter
                label="Subject id"
                value={filter.subjectId}
                onChange={(subject) => change({ subject })}
              />
              <DayFilter
                label="First day"
                shown="From"
                value={day.first}
                onChange={(first) => change({ first })}
              />
              <DayFilter label="Last day" shown="To" value={day.last} onChange={(last) => change({ last })} />
            </FilterBar>
          }
          columns={COLUMNS}
          rows={query.data?.rows}
          rowId={({ number }) => String(number)}
          rowName={({ number }) => `entry ${number}`}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState title={isFiltered ? "No entry matches" : "Nothing was done yet"}>
              {isFiltered
                ? "Clear a filter to see more."
                : "Every change that an operator makes leaves an entry here."}
            </EmptyState>
          }
          actions={(entry) => [
            { label: "Show in full", icon: <EyeIcon />, onClick: () => setShown(entry) },
            {
              label: "All of this operator",
              icon: <PersonIcon />,
              onClick: () => change({ operator: entry.operator }),
            },
            { label: "Copy id", icon: <CopyIcon />, onClick: () => copyAndTell(entry.subjectId) },
          ]}
          footer={
            (cursor !== "" || query.data?.next) && (
              <Group justify="flex-end" p="sm">
                <Button size="xs" variant="default" disabled={cursor === ""} onClick={() => change({})}>
                  Newest
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  disabled={!query.data?.next}
                  onClick={() => url.change({ after: query.data?.next ?? null })}
                >
                  Older
                </Button>
              </Group>
            )
          }
        />
      </Card>
      {shown && <EntryDialog entry={shown} onClose={() => setShown(null)} />}
    </>
  );
}

/** An entry with what it was before and after, and where the operator was. */
function EntryDialog({ entry, onClose }: { entry: TrailEntry; onClose: () => void }) {
  const fields = [...new Set([...Object.keys(entry.before), ...Object.keys(entry.after)])].sort();
  const facts: [string, string][] = [
    ["Operator", entry.operator],
    ["Action", entry.action],
    ["Subject", `${entry.subjectKind} ${entry.subjectId}`],
    ["Reason", entry.reason],
    ["Address", entry.address ?? "erased"],
    ["Request", entry.requestId || "a command"],
    ["Hash", entry.hash],
  ];
  return (
    <Dialog
      title={`Entry ${entry.number}`}
      onClose={onClose}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <dl className={classes.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {fields.length > 0 && (
        <table className={classes.values} aria-label="Before and after">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((name) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{entry.before[name] ?? "–"}</td>
                <td>{entry.after[name] ?? "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Dialog>
  );
}
