/** What the web server knows of every service, and of the last reconciliation. */
import { useQuery } from "@tanstack/react-query";
import { type Edge, useEdge } from "./client.ts";
import { callWebServer } from "./webServer.ts";

const INTERVAL_MS = 5_000;
const BUSY_INTERVAL_MS = 1_000;

export interface Check {
  name: string;
  /** Why it is down or degraded; empty if it passed. */
  message: string;
}

export interface Lag {
  name: string;
  value: number;
}

export interface ServiceHealth {
  title: string;
  state: "READY" | "NOT_READY" | "SILENT";
  checks: Check[];
  lags: Lag[];
}

export interface Difference {
  kind: string;
  name: string;
  field: string;
  engine: string;
  mirror: string;
  cause: string;
}

export interface ReconcileReport {
  engineSequence: number;
  rowsSequence: number;
  caughtUp: boolean;
  accounts: number;
  orders: number;
  trades: number;
  entries: number;
  /** What the engine alone has, and the ledger lacks. Older reports do not say. */
  unbookedAdjustments?: number;
  differences: Difference[];
  /** Differences that are not listed. */
  unnamed: number;
}

/**
 * When the mirrors were compared, and what came of it: a report, or why they could not be compared. A report may have
 * both: then they could not be compared once more, at `failedAt`.
 */
export interface Reconcile {
  at: number;
  /** Who or what began it. Older reports do not say. */
  startedBy?: string;
  report?: ReconcileReport;
  error?: string;
  failedAt?: number;
}

/** A process that ended and was started again. */
export interface ProcessEnd {
  process: string;
  title: string;
  /** In milliseconds since 1970. */
  atMs: number;
  cause: string;
  /** Whether somebody asked for it. */
  isAsked: boolean;
}

/** A work of the timetable: what became of the newest runs, and when the next is due. Times in milliseconds since 1970. */
export interface PlannedWork {
  work: "comparison" | "backup";
  /** The last good run, if there was one. */
  madeAt: number | null;
  /** An attempt after it that failed. */
  failedAt: number | null;
  /** Why it failed; empty if none did. */
  reason: string;
  /** Null if the timetable does not run it. */
  dueAt: number | null;
  isLate: boolean;
  /** Who or what runs it now. */
  begun: { by: string; at: number } | null;
  /** What the last comparison found. */
  differences: number | null;
}

export interface HealthReport {
  at: number;
  services: ServiceHealth[];
  /** The newest ends of processes, newest first. */
  ends: ProcessEnd[];
  reconcile: Reconcile | null;
  /** Whether a comparison runs. */
  reconciling: boolean;
  /** Why the last one that an operator asked for left no outcome; empty if it did. */
  failure: string;
  /** The works of the timetable. A web server of before does not name them. */
  works?: PlannedWork[];
}

/** The health of everything, read again every five seconds. Fails with WebServerError. */
export function useHealth() {
  const edge = useEdge();
  return useQuery({
    queryKey: ["health"],
    queryFn: async ({ signal }) =>
      (await callWebServer(edge, "GET", "/health.json", { signal })) as HealthReport,
    refetchInterval: (query) => (query.state.data?.reconciling ? BUSY_INTERVAL_MS : INTERVAL_MS),
  });
}

/** Whether adjustments are being booked, and why the last run booked none; empty if it did. */
export interface BookingState {
  running: boolean;
  failure: string;
}

/** The state of the booking of adjustments. Fails with WebServerError. */
export function useBookingState() {
  const edge = useEdge();
  return useQuery({
    queryKey: ["booking"],
    queryFn: async ({ signal }) =>
      (await callWebServer(edge, "GET", "/bookings.json", { signal })) as BookingState,
    refetchInterval: (query) => (query.state.data?.running ? BUSY_INTERVAL_MS : INTERVAL_MS),
  });
}

/** Start to book what the engine alone has. Rejects with WebServerError. */
export function bookAdjustments(edge: Edge, reason: string) {
  return callWebServer(edge, "POST", "/bookings", { body: { reason }, endsSession: true });
}

/** Start a comparison of the engine with its mirrors. Rejects with WebServerError. */
export function startComparison(edge: Edge, reason: string) {
  return callWebServer(edge, "POST", "/reconcile", { body: { reason }, endsSession: true });
}
