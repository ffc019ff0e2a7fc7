import { useQuery } from "@tanstack/react-query";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { UnreachableError } from "../api/errors.ts";
import { explainIfAny } from "../api/messages.ts";
import { useLink } from "../api/live.ts";
import { FUNCTIONS, type FunctionState, readStatus, summary } from "../status/status.ts";
import classes from "./PlainPage.module.css";

const READ_MS = 10_000;

const COLUMNS: readonly Column<FunctionState>[] = [
  {
    id: "function",
    title: "Function",
    cell: ({ name }) => (
      <>
        <strong>{FUNCTIONS[name]?.title ?? name}</strong>
        <div className={classes.text}>{FUNCTIONS[name]?.text}</div>
      </>
    ),
  },
  {
    id: "state",
    title: "State",
    cell: ({ state }) =>
      state === "works" ? (
        <Badge tone="positive" shape="●">
          Works
        </Badge>
      ) : state === "degraded" ? (
        <Badge tone="warning" shape="◐">
          Works in part
        </Badge>
      ) : (
        <Badge tone="negative" shape="!">
          Down
        </Badge>
      ),
  },
  { id: "since", title: "Since", cell: ({ since }) => <TimeText milliseconds={since} /> },
];

/** Whether the exchange works, for everybody to read. */
export default function StatusPage() {
  const link = useLink();
  const status = useQuery({
    queryKey: ["status"],
    queryFn: async ({ signal }) => {
      const response = await fetch("/status.json", { signal }).catch(() => null);
      if (!response?.ok) throw new UnreachableError(window.location.origin);
      return readStatus(await response.json());
    },
    refetchInterval: READ_MS,
    meta: { isPublic: true },
  });
  return (
    <div className={classes.page}>
      <PageHeader title="Status">
        {status.data ? summary(status.data) : "What works at this moment."}
      </PageHeader>
      <Card flush>
        <DataTable
          label="Functions"
          columns={COLUMNS}
          rows={status.data}
          rowId={({ name }) => name}
          rowName={({ name }) => FUNCTIONS[name]?.title ?? name}
          state={status}
          problem={explainIfAny(status.error)}
          isWhole
          empty={
            <EmptyState title="Nothing is known">Nobody told this page which services to ask.</EmptyState>
          }
        />
      </Card>
      <p className={classes.note}>
        Your own connection:{" "}
        {link.state === "live" ? "live prices arrive." : "no live prices arrive at present."}
      </p>
    </div>
  );
}
