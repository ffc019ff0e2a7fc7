/** Reports at the REST edge, and the proofs of reserves that the web server makes. */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { nearestNumber } from "#lib/arithmetic.ts";
import type { GraphPoint } from "#lib/series.ts";
import { type Edge, returned, type Schemas, useEdge } from "./client.ts";
import { callWebServer } from "./webServer.ts";

const INTERVAL_MS = 30_000;
const PROVING_INTERVAL_MS = 2_000;
const DAY_MS = 86_400_000;

export type FeeRow = Schemas["FeeReportRow"];
export type VolumeRow = Schemas["VolumeReportRow"];
export type UserRow = Schemas["UserReportRow"];
export type BalanceRow = Schemas["BalanceReportRow"];
export type ReserveRow = Schemas["ReserveReportRow"];
export type Statement = Schemas["ReserveStatementResponse"];

export type ReportName = "fees" | "volumes" | "users" | "balances" | "reserves";
export type ReportRow = FeeRow | VolumeRow | UserRow | BalanceRow | ReserveRow;
/** A period that is not closed yet, in place of its figures. */
export type UnclosedRow = Schemas["UnclosedReportRow"];
export type TableRow = ReportRow | UnclosedRow;

/** Whether a row stands for a period that is not closed yet. */
export function isUnclosed(row: TableRow): row is UnclosedRow {
  return "note" in row;
}

/** The rows that have figures. */
export function figuresOf(rows: readonly TableRow[]): ReportRow[] {
  return rows.filter((row): row is ReportRow => !isUnclosed(row));
}

/** What a report is about: days in UTC, both included. */
export interface ReportSpan {
  from: string;
  to: string;
  by: "day" | "month";
}

/** The last thirty days. */
export function lastDays(now: number, days = 30): ReportSpan {
  return { from: dayOf(now - (days - 1) * DAY_MS), to: dayOf(now), by: "day" };
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The beginning of a period such as 2026-01-31 or 2026-01, in milliseconds since 1970. */
export function beginOf(period: string): number {
  return Date.parse(`${period.length === 7 ? `${period}-01` : period}T00:00:00Z`);
}

/** What a picture draws of a row, null where that is not known, and of a period that has no row. */
interface Figure {
  of: (row: ReportRow) => string | number | null;
  absent: number | null;
}

const FIGURES: Record<ReportName, Figure> = {
  fees: { of: (row) => (row as FeeRow).total, absent: 0 },
  volumes: { of: (row) => (row as VolumeRow).quote, absent: 0 },
  users: { of: (row) => (row as UserRow).active, absent: null },
  balances: { of: (row) => (row as BalanceRow).balance, absent: 0 },
  reserves: { of: (row) => (row as ReserveRow).ratio, absent: null },
};

/**
 * The sum of a report's figures in each period of a span that has begun by `today`, for a picture: a picture needs no
 * exact digits. A period of `unclosed` is a gap that says why. Without any row there is no asset or market that the
 * figures could be of, and no point.
 */
export function pointsOf(
  name: ReportName,
  rows: readonly ReportRow[],
  span: ReportSpan,
  today: string,
  unclosed: readonly UnclosedRow[] = [],
): GraphPoint[] {
  if (rows.length === 0) return [];
  const { of, absent } = FIGURES[name];
  const sums = new Map<string, number | null>();
  for (const row of rows) {
    const figure = of(row);
    const value = typeof figure === "string" ? nearestNumber(figure) : figure;
    const sum = sums.get(row.period) ?? null;
    sums.set(row.period, value === null ? sum : (sum ?? 0) + value);
  }
  const notes = new Map(unclosed.map(({ period, note }) => [period, note]));
  for (const period of periodsOf(span, today))
    if (!sums.has(period)) sums.set(period, notes.has(period) ? null : absent);
  return [...sums]
    .map(([period, value]) => ({ at: beginOf(period), value, missing: notes.get(period) }))
    .sort((a, b) => a.at - b.at);
}

/** The periods of a span, as far as they have begun. */
function periodsOf({ from, to, by }: ReportSpan, today: string): string[] {
  const until = Math.min(beginOf(to), beginOf(today));
  const periods = new Set<string>();
  for (let at = beginOf(from); at <= until; at += DAY_MS)
    periods.add(dayOf(at).slice(0, by === "month" ? 7 : 10));
  return [...periods];
}

/** The rows of the newest period, in which at least one asset is not covered. */
export function uncovered(rows: readonly ReserveRow[]): ReserveRow[] {
  const newest = rows.at(-1)?.period;
  return rows.filter(({ period, covered }) => period === newest && covered === false);
}

/** The rows of a report, with the span that they are of: while another one is fetched, the one before is shown. */
export function useReport(name: ReportName, span: ReportSpan) {
  const { rest } = useEdge();
  return useQuery<{ rows: TableRow[]; span: ReportSpan }>({
    queryKey: ["reports", name, span],
    queryFn: async ({ signal }) => ({ rows: await readRows(rest, name, span, signal), span }),
    refetchInterval: INTERVAL_MS,
    placeholderData: (before, query) => (query?.queryKey[1] === name ? keepPreviousData(before) : undefined),
  });
}

function readRows(
  rest: Edge["rest"],
  name: ReportName,
  span: ReportSpan,
  signal: AbortSignal,
): Promise<TableRow[]> {
  const given = { params: { query: span }, signal };
  switch (name) {
    case "fees":
      return returned(rest.GET("/api/v1/operator/reports/fees", given));
    case "volumes":
      return returned(rest.GET("/api/v1/operator/reports/volumes", given));
    case "users":
      return returned(rest.GET("/api/v1/operator/reports/users", given));
    case "balances":
      return returned(rest.GET("/api/v1/operator/reports/balances", given));
    case "reserves":
      return returned(rest.GET("/api/v1/operator/reports/reserves", given));
  }
}

/** What was proved, the newest first. */
export function useStatements() {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["reserves", "statements"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/reserves", { signal })),
    refetchInterval: INTERVAL_MS,
  });
}

interface ProvingState {
  running: boolean;
  failure: string;
}

/** Whether a proof is being made. Fails with WebServerError. */
export function useProving() {
  const edge = useEdge();
  const client = useQueryClient();
  return useQuery({
    queryKey: ["reserves", "proving"],
    queryFn: async ({ signal }) => {
      const before = client.getQueryData<ProvingState>(["reserves", "proving"]);
      const state = (await callWebServer(edge, "GET", "/reserves.json", { signal })) as ProvingState;
      if (before?.running && !state.running)
        void client.invalidateQueries({ queryKey: ["reserves", "statements"] });
      return state;
    },
    refetchInterval: (query) => (query.state.data?.running ? PROVING_INTERVAL_MS : INTERVAL_MS),
  });
}

/** Start making a proof. Rejects with WebServerError. */
export function startProof(edge: Edge, reason: string) {
  return callWebServer(edge, "POST", "/reserves", { body: { reason }, endsSession: true });
}
