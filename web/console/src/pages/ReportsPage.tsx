import { Button, Select, Stack, Tabs } from "@mantine/core";
import { DownloadIcon, ShieldCheckIcon } from "@primer/octicons-react";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { CopyText } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState, WarningNote } from "#lib/components/states.tsx";
import { TimeSeries } from "#lib/components/TimeSeries.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatCount } from "#lib/counts.ts";
import { useNow } from "#lib/useNow.ts";
import { useUrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../engine/messages.ts";
import { saveExport } from "../operator/client.ts";
import {
  type BalanceRow,
  beginOf,
  type FeeRow,
  figuresOf,
  isUnclosed,
  lastDays,
  pointsOf,
  type ReportName,
  type ReportRow,
  type ReportSpan,
  type ReserveRow,
  type Statement,
  type TableRow,
  uncovered,
  type UnclosedRow,
  type UserRow,
  startProof,
  useProving,
  useReport,
  useStatements,
  type VolumeRow,
} from "../operator/reports.ts";
import { useCan } from "../operator/session.ts";
import { FileFormatChoice } from "../parts/FileFormatChoice.tsx";
import type { FileFormat } from "../parts/fileFormats.ts";
import { ChoiceFilter, DayFilter, FilterBar } from "../parts/filters.tsx";
import { ReasonDialog } from "../parts/ReasonDialog.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { isDay } from "../people/span.ts";

const DAY_MS = 86_400_000;

/** A report: its columns, and the picture of its figures. */
interface Report {
  title: string;
  text: string;
  columns: readonly Column<TableRow>[];
  /** What a row has beside its period that tells it from the others. */
  rowId: (row: ReportRow) => string;
  /** Which rows a picture can be of: those of one asset or market. */
  choiceOf: ((row: ReportRow) => string) | null;
  /** Of the figure in the picture. */
  unit: string;
}

/** The columns of a report. A period that is not closed yet says so in the first, and has no figures. */
function columns<Row extends ReportRow>(...list: Column<Row>[]): readonly Column<TableRow>[] {
  return [
    { id: "period", title: "Period", cell: (row) => row.period },
    ...list.map(({ id, title, align, cell }, index): Column<TableRow> => ({
      id,
      title,
      ...(align && { align }),
      cell: (row) => (isUnclosed(row) ? index === 0 && row.note : cell(row as Row)),
    })),
  ];
}

function money<Row extends ReportRow>(
  id: string,
  title: string,
  amount: (row: Row) => string,
  unit: (row: Row) => string,
): Column<Row> {
  return { id, title, align: "right", cell: (row) => <Amount value={amount(row)} unit={unit(row)} /> };
}

function count(id: "registered" | "active" | "total", title: string): Column<UserRow> {
  return { id, title, align: "right", cell: (row) => formatCount(row[id]) };
}

const REPORTS: Record<ReportName, Report> = {
  fees: {
    title: "Fee income",
    text: "What the accounts of income moved. Fees and rebates are those of trades; the rest is interest, plans, and what operators moved.",
    columns: columns<FeeRow>(
      { id: "account", title: "Account", cell: (row) => row.account },
      money(
        "fees",
        "Fees",
        (row) => row.fees,
        (row) => row.asset,
      ),
      money(
        "rebates",
        "Rebates",
        (row) => row.rebates,
        (row) => row.asset,
      ),
      money(
        "other",
        "Other",
        (row) => row.other,
        (row) => row.asset,
      ),
      money(
        "sum",
        "Total",
        (row) => row.total,
        (row) => row.asset,
      ),
    ),
    rowId: (row) => `${(row as FeeRow).account} ${(row as FeeRow).asset}`,
    choiceOf: (row) => (row as FeeRow).asset,
    unit: "moved",
  },
  volumes: {
    title: "Volumes",
    text: "What was traded on each market.",
    columns: columns<VolumeRow>(
      { id: "symbol", title: "Market", cell: (row) => row.symbol },
      { id: "trades", title: "Trades", align: "right", cell: (row) => formatCount(row.trades) },
      money(
        "base",
        "Base",
        (row) => row.base,
        (row) => row.symbol.split("-")[0] ?? "",
      ),
      money(
        "quote",
        "Quote",
        (row) => row.quote,
        (row) => row.symbol.split("-")[1] ?? "",
      ),
    ),
    rowId: (row) => (row as VolumeRow).symbol,
    choiceOf: (row) => (row as VolumeRow).symbol,
    unit: "of the quote asset",
  },
  users: {
    title: "Users",
    text: "Active is who traded, logged in or changed the account on a day; by month, on the busiest day.",
    columns: columns<UserRow>(count("registered", "New"), count("active", "Active"), count("total", "All"), {
      id: "verified",
      title: "Verified",
      align: "right",
      cell: (row) => (row.verified === null ? "not counted" : formatCount(row.verified)),
    }),
    rowId: () => "",
    choiceOf: null,
    unit: "active",
  },
  balances: {
    title: "Balances",
    text: "What users, margin accounts and the accounts of the house held at the end.",
    columns: columns<BalanceRow>(
      { id: "account", title: "Accounts", cell: (row) => row.account },
      money(
        "balance",
        "Balance",
        (row) => row.balance,
        (row) => row.asset,
      ),
    ),
    rowId: (row) => `${(row as BalanceRow).account} ${(row as BalanceRow).asset}`,
    choiceOf: (row) => `${(row as BalanceRow).account} ${(row as BalanceRow).asset}`,
    unit: "held",
  },
  reserves: {
    title: "Reserves",
    text: "What users were owed at the end, and what custody said that it holds on its chains. The house's own accounts stand apart, and so does what users owe the house: a loan is no reserve.",
    columns: columns<ReserveRow>(
      money(
        "liabilities",
        "Liabilities",
        (row) => row.liabilities,
        (row) => row.asset,
      ),
      {
        id: "reserves",
        title: "Reserves",
        align: "right",
        cell: (row) =>
          row.reserves === null ? "not asked" : <Amount value={row.reserves} unit={row.asset} />,
      },
      { id: "ratio", title: "Ratio", align: "right", cell: (row) => row.ratio ?? "–" },
      { id: "covered", title: "Covered", cell: (row) => <Covered row={row} /> },
      money(
        "house",
        "House",
        (row) => row.house,
        (row) => row.asset,
      ),
      {
        id: "loans",
        title: "Lent to users",
        align: "right",
        cell: (row) => (row.loans === null ? "not counted" : <Amount value={row.loans} unit={row.asset} />),
      },
    ),
    rowId: (row) => (row as ReserveRow).asset,
    choiceOf: (row) => (row as ReserveRow).asset,
    unit: "reserves by liabilities",
  },
};

function Covered({ row: { covered } }: { row: ReserveRow }) {
  if (covered === null) return null;
  return covered ? (
    <Badge tone="positive" shape="✓">
      Covered
    </Badge>
  ) : (
    <Badge tone="negative" shape="▲">
      Less than is owed
    </Badge>
  );
}

const NAMES = Object.keys(REPORTS) as ReportName[];

/** Figures of the exchange by day and month, and the proofs of reserves. */
export function ReportsPage() {
  const url = useUrlState();
  const name = NAMES.find((known) => known === url.parameter("report")) ?? "fees";
  const usual = lastDays(useNow(60_000));
  const day = (parameter: "from" | "to") => {
    const text = url.parameter(parameter);
    return text !== "" && isDay(text) ? text : usual[parameter];
  };
  const span: ReportSpan = {
    from: day("from"),
    to: day("to"),
    by: url.parameter("by") === "month" ? "month" : "day",
  };
  return (
    <>
      <PageHeader title="Reports" actions={<SavedViews page="reports" />}>
        Days and months are of UTC. The present day counts until now; others are closed soon after their end.
        What is closed late has no figures until then. A month has the days between the two dates alone.
      </PageHeader>
      <Stack gap="md">
        <Tabs value={name} onChange={(report) => url.change({ report })} keepMounted={false}>
          <Tabs.List>
            {NAMES.map((known) => (
              <Tabs.Tab key={known} value={known}>
                {REPORTS[known].title}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
        <ReportTable
          key={name}
          name={name}
          span={span}
          filters={
            <FilterBar
              isFiltered={["from", "to", "by"].some((parameter) => url.parameter(parameter) !== "")}
              onClear={() => url.change({ from: null, to: null, by: null })}
            >
              <DayFilter label="From" value={span.from} onChange={(from) => url.change({ from })} />
              <DayFilter label="To" value={span.to} onChange={(to) => url.change({ to })} />
              <ChoiceFilter
                label="By"
                any="By day"
                value={span.by === "month" ? "month" : ""}
                choices={[{ value: "month", label: "By month" }]}
                onChange={(by) => url.change({ by })}
              />
            </FilterBar>
          }
        />
        {name === "reserves" && <Proofs />}
      </Stack>
    </>
  );
}

function ReportTable({ name, span, filters }: { name: ReportName; span: ReportSpan; filters: ReactNode }) {
  const report = REPORTS[name];
  const query = useReport(name, span);
  const can = useCan();
  const [isSaving, setSaving] = useState(false);
  const [format, setFormat] = useState<FileFormat>("csv");
  const rows = query.data?.rows;
  const figures = figuresOf(rows ?? []);
  const short = name === "reserves" ? uncovered(figures as ReserveRow[]) : [];
  const nameOf = (row: TableRow) => (isUnclosed(row) ? row.period : `${row.period} ${report.rowId(row)}`);
  return (
    <>
      {short.length > 0 && (
        <WarningNote>
          Custody holds less than users are owed of {short.map(({ asset }) => asset).join(", ")}.
        </WarningNote>
      )}
      <Picture
        name={name}
        rows={figures}
        unclosed={(rows ?? []).filter(isUnclosed)}
        span={query.data?.span ?? span}
      />
      <Card flush>
        <DataTable
          label={report.title}
          toolbar={
            <>
              {filters}
              <Button
                variant="default"
                leftSection={<DownloadIcon />}
                disabled={!can("reports.export")}
                title={can("reports.export") ? undefined : "This needs the permission reports.export."}
                onClick={() => setSaving(true)}
              >
                Save as a file
              </Button>
            </>
          }
          columns={report.columns}
          rows={rows === undefined ? undefined : [...rows].reverse()}
          rowId={nameOf}
          rowName={nameOf}
          state={query}
          problem={explainIfAny(query.error)}
          empty={<EmptyState title="Nothing to report">Nothing happened in these days.</EmptyState>}
        />
      </Card>
      <p>{report.text}</p>
      {isSaving && (
        <ReasonDialog
          title="Save the report as a file?"
          confirm="Save the file"
          act={async (edge, reason) => {
            const parameters = new URLSearchParams({ ...span, reason, format });
            await saveExport(
              edge,
              `/operator/reports/${name}/export`,
              parameters,
              `${name}-${span.from}-${span.to}.${format}`,
            );
          }}
          done={() => ["The browser saves the file", `${name}-${span.from}-${span.to}.${format}`]}
          onClose={() => setSaving(false)}
        >
          <p>The audit trail notes the file.</p>
          <FileFormatChoice value={format} onChange={setFormat} />
        </ReasonDialog>
      )}
    </>
  );
}

/** A figure with the minus that the tables have. */
const withMinus = (figure: string) => figure.replace("-", "−");

/** The report's figures over time, of the asset or market that is chosen. */
function Picture({
  name,
  rows,
  unclosed,
  span,
}: {
  name: ReportName;
  rows: readonly ReportRow[];
  unclosed: readonly UnclosedRow[];
  span: ReportSpan;
}) {
  const report = REPORTS[name];
  const [chosen, setChosen] = useState<string | null>(null);
  const { choiceOf } = report;
  const choices = choiceOf ? [...new Set(rows.map(choiceOf))].sort() : [];
  const choice = choices.find((known) => known === chosen) ?? choices[0] ?? null;
  const shown = choiceOf ? rows.filter((row) => choiceOf(row) === choice) : rows;
  const today = lastDays(useNow(60_000)).to;
  const points = pointsOf(name, shown, span, today, unclosed);
  // A month stands at its first day, which may be before the first day of the report.
  const since = Math.min(beginOf(span.from), points[0]?.at ?? Infinity);
  const until = Math.max(beginOf(span.to), points.at(-1)?.at ?? 0);
  return (
    <div>
      {choices.length > 1 && (
        <Select
          aria-label="Picture of"
          data={choices}
          value={choice}
          onChange={setChosen}
          allowDeselect={false}
          mb="xs"
          maw={280}
        />
      )}
      <TimeSeries
        title={choice === null ? report.title : `${report.title}, ${choice}`}
        unit={report.unit}
        points={points}
        span={Math.max(DAY_MS, until - since)}
        until={until}
        format={(value) => withMinus(value.toLocaleString("en", { maximumFractionDigits: 4 }))}
        formatTick={(value) => withMinus(value.toLocaleString("en", { notation: "compact" }))}
        formatAt={(at) => new Date(at).toISOString().slice(5, 10)}
      />
    </div>
  );
}

const PROOF_COLUMNS: readonly Column<Statement>[] = [
  { id: "taken", title: "Taken", cell: (row) => <TimeText milliseconds={Date.parse(row.takenAt)} /> },
  { id: "event", title: "Event", align: "right", cell: (row) => formatCount(row.sequence) },
  { id: "assets", title: "Assets", cell: (row) => row.assets.map(({ asset }) => asset).join(", ") },
  { id: "digest", title: "Digest", cell: (row) => <CopyText text={row.digest} name="digest" /> },
];

/** What was proved to users, and the button that proves what they are owed now. */
function Proofs() {
  const statements = useStatements();
  const proving = useProving();
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const can = useCan();
  const isRunning = proving.data?.running ?? false;
  const failure = proving.data?.failure ?? "";
  return (
    <Card flush>
      {isAsking && (
        <ReasonDialog
          title="Prove the reserves now?"
          confirm="Prove them"
          act={startProof}
          done={() => ["The proof has begun", "It is published when it is made."]}
          onClose={() => {
            setAsking(false);
            void client.invalidateQueries({ queryKey: ["reserves", "proving"] });
          }}
        >
          <p>Every user can check what they are owed in it; the oldest proofs are deleted.</p>
        </ReasonDialog>
      )}
      {failure !== "" && <WarningNote>The last proof was not made: {failure}</WarningNote>}
      <DataTable
        label="Proofs of reserves"
        isWhole
        toolbar={
          <Button
            variant="default"
            leftSection={<ShieldCheckIcon />}
            loading={isRunning}
            disabled={!can("reserves.prove")}
            title={can("reserves.prove") ? undefined : "This needs the permission reserves.prove."}
            onClick={() => setAsking(true)}
          >
            Prove now…
          </Button>
        }
        columns={PROOF_COLUMNS}
        rows={statements.data}
        rowId={(row) => row.id}
        rowName={(row) => row.id}
        state={statements}
        problem={explainIfAny(statements.error)}
        empty={
          <EmptyState title="Nothing was proved yet">
            A proof shows every user that the tree of liabilities has what they are owed.
          </EmptyState>
        }
      />
    </Card>
  );
}
