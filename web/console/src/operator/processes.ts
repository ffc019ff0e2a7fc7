/** The processes that `openspot up` runs, how they ended, and the platform's log, as the web server shows them. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEdge } from "./client.ts";
import { callWebServer } from "./webServer.ts";

const INTERVAL_MS = 3_000;
const FOLLOW_MS = 2_000;
/** The newest lines that the page keeps. */
const LINES_MAX = 1_000;
const PAGE = "200";

/** A process that `openspot up` runs, with the services in it. */
export interface SupervisedProcess {
  name: string;
  title: string;
  services: string[];
  state: "RUNNING" | "RESTARTING" | "STOPPED";
  /** 0 while it does not run. */
  pid: number;
  /** In milliseconds since 1970, 0 if it is not known. */
  startedAtMs: number;
  restarts: number;
  /** Whether a restart is under way that somebody asked for. */
  isAsked: boolean;
  /** Why nobody can restart it on request; empty if somebody can. */
  fixed: string;
  /** Why the newest restart that was asked for failed; empty if it did not. */
  failure: string;
}

export interface Processes {
  processes: SupervisedProcess[];
  /** Why none is known; empty if they are. */
  reason: string;
}

/** How a process ended, and the last lines that it wrote. */
export interface ShownEnd {
  process: string;
  atMs: number;
  lines: string[];
}

export type Level = "debug" | "info" | "warning" | "error";

export interface LogLine {
  /** Counts the lines of this page, so that each has a key. */
  number: number;
  at: string;
  service: string;
  level: Level;
  text: string;
}

interface LogPage {
  lines: Omit<LogLine, "number">[];
  cursor: string;
  isCut: boolean;
}

export interface Log {
  lines: LogLine[];
  cursor: string;
  /** Whether there are older lines that are not shown. */
  isCut: boolean;
}

/** Every process. Fails with WebServerError. */
export function useProcesses() {
  const edge = useEdge();
  return useQuery({
    queryKey: ["people", "processes"],
    queryFn: async ({ signal }) =>
      (await callWebServer(edge, "GET", "/processes.json", { signal })) as Processes,
    refetchInterval: INTERVAL_MS,
  });
}

/** The newest ends, with their last lines. Fails with WebServerError. */
export function useEnds() {
  const edge = useEdge();
  return useQuery({
    queryKey: ["ends"],
    queryFn: async ({ signal }) => (await callWebServer(edge, "GET", "/ends.json", { signal })) as ShownEnd[],
  });
}

/** Lines of the log, of one process or of all, of at least a level. Fails with WebServerError. */
export function useLog(process: string, level: Level, isFollowed: boolean) {
  const client = useQueryClient();
  const edge = useEdge();
  const queryKey = ["log", process, level];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const known = client.getQueryData<Log>(queryKey);
      const asked = new URLSearchParams({ process, level, after: known?.cursor ?? "", limit: PAGE });
      const page = (await callWebServer(edge, "GET", `/logs.json?${asked.toString()}`, {
        signal,
      })) as LogPage;
      return extended(known, page);
    },
    refetchInterval: isFollowed ? FOLLOW_MS : false,
    gcTime: 0,
  });
}

/** The lines that were known, and those of a page after them. */
export function extended(known: Log | undefined, page: LogPage): Log {
  const first = (known?.lines.at(-1)?.number ?? 0) + 1;
  const lines = [
    ...(known?.lines ?? []),
    ...page.lines.map((line, index) => ({ ...line, number: first + index })),
  ];
  return {
    lines: lines.slice(-LINES_MAX),
    cursor: page.cursor,
    isCut: (known?.isCut ?? false) || page.isCut || lines.length > LINES_MAX,
  };
}

/** Why an operator cannot restart a process, or undefined. The edge and the supervisor check it again. */
export function restartFault(process: SupervisedProcess, can: (permission: "processes.restart") => boolean) {
  if (!can("processes.restart")) return "You lack the permission processes.restart.";
  if (process.fixed !== "") return `Not on request: ${process.fixed}.`;
  if (process.state === "STOPPED") {
    return `It was stopped on the machine; \`openspot start ${process.services[0] ?? ""}\` starts it.`;
  }
  return process.isAsked ? "It is being restarted." : undefined;
}

/** What a restart means for users while it lasts. */
export function meaningOf({ services }: SupervisedProcess): string {
  if (services.includes("engine")) {
    return "Nobody can place or cancel an order until it has replayed its journal.";
  }
  if (services.includes("rest-edge")) {
    return "Requests of users, and of this console, fail until it is back.";
  }
  if (services.includes("web")) return "The pages, this one included, are away until it is back.";
  if (services.includes("ws-edge")) return "Every WebSocket is closed; clients connect again by themselves.";
  if (services.includes("timetable")) {
    return "A backup or comparison that is under way ends and is made again.";
  }
  return "What others ask of it waits or fails until it is back.";
}
