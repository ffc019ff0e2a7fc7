import { expect, it } from "vitest";
import type { PlannedWork } from "./health.ts";
import { outcomeOf } from "./timetable.ts";

const WORK: PlannedWork = {
  work: "comparison",
  madeAt: 1,
  failedAt: null,
  reason: "",
  dueAt: 2,
  isLate: false,
  begun: null,
  differences: 0,
};

it.each<[Partial<PlannedWork>, string, string]>([
  [{}, "positive", "No differences"],
  [{ work: "backup", differences: null }, "positive", "Made"],
  [{ differences: 1 }, "negative", "1 difference"],
  [{ differences: 1200 }, "negative", "1,200 differences"],
  [{ madeAt: null, differences: null }, "neutral", "None yet"],
  [{ madeAt: null, differences: null, isLate: true }, "warning", "Late"],
  [{ isLate: true, differences: 3 }, "warning", "Late"],
  [{ failedAt: 5, reason: "no space", isLate: true }, "negative", "Failed"],
])("a work of the timetable with %j reads", (given, tone, text) => {
  expect(outcomeOf({ ...WORK, ...given })).toMatchObject({ tone, text });
});
