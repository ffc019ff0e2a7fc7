/** What became of the works of the timetable, in words. */
import type { Tone } from "#lib/components/Badge.tsx";
import { plural } from "#lib/counts.ts";
import type { PlannedWork } from "./health.ts";

export const NAMES: Record<PlannedWork["work"], string> = {
  comparison: "Comparison of the books",
  backup: "Backup",
};

/** The outcome of the newest run. A failure comes first, then what is late, then what the last one found. */
export function outcomeOf(work: PlannedWork): { tone: Tone; shape: string; text: string } {
  if (work.failedAt !== null) return { tone: "negative", shape: "✕", text: "Failed" };
  if (work.isLate) return { tone: "warning", shape: "◐", text: "Late" };
  if (work.madeAt === null) return { tone: "neutral", shape: "○", text: "None yet" };
  if (work.differences) return { tone: "negative", shape: "✕", text: plural(work.differences, "difference") };
  return { tone: "positive", shape: "●", text: work.work === "backup" ? "Made" : "No differences" };
}
