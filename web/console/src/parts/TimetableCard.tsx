import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable, type ListState } from "#lib/components/DataTable.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import type { PlannedWork } from "../operator/health.ts";
import { NAMES, outcomeOf } from "../operator/timetable.ts";

function Next({ row, now }: { row: PlannedWork; now: number }) {
  if (row.begun) {
    return (
      <>
        runs since <TimeText milliseconds={row.begun.at} />
        {row.begun.by && `, begun by ${row.begun.by}`}
      </>
    );
  }
  if (row.dueAt === null) return "by no timetable";
  return row.dueAt <= now ? "due now" : <TimeText milliseconds={row.dueAt} />;
}

function columns(now: number): readonly Column<PlannedWork>[] {
  return [
    { id: "work", title: "What", cell: ({ work }) => NAMES[work] },
    {
      id: "last",
      title: "Last",
      cell: ({ madeAt }) => (madeAt === null ? "never" : <TimeText milliseconds={madeAt} />),
    },
    {
      id: "outcome",
      title: "Outcome",
      cell: (row) => {
        const { tone, shape, text } = outcomeOf(row);
        return (
          <>
            <Badge tone={tone} shape={shape}>
              {text}
            </Badge>
            {row.failedAt !== null && (
              <>
                {" "}
                <TimeText milliseconds={row.failedAt} />: {row.reason}
              </>
            )}
          </>
        );
      },
    },
    { id: "next", title: "Next", cell: (row) => <Next row={row} now={now} /> },
  ];
}

/** When the books were compared and a backup was made, what came of it, and when the next is due. */
export function TimetableCard(props: { works: readonly PlannedWork[]; now: number; state: ListState }) {
  const { works, now, state } = props;
  return (
    <Card title="Timetable" flush>
      <DataTable
        label="Timetable"
        columns={columns(now)}
        rows={works}
        rowId={({ work }) => work}
        rowName={({ work }) => NAMES[work]}
        state={state}
        problem={null}
        empty={null}
      />
    </Card>
  );
}
