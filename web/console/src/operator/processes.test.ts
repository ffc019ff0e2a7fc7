import { describe, expect, test } from "vitest";
import { extended, type Log, restartFault, type SupervisedProcess } from "./processes.ts";

const line = (text: string) => ({ at: "", service: "ledger", level: "info" as const, text });
const ledger: SupervisedProcess = {
  name: "ledger",
  title: "Ledger",
  services: ["ledger"],
  state: "RUNNING",
  pid: 7,
  startedAtMs: 1,
  restarts: 0,
  isAsked: false,
  fixed: "",
  failure: "",
};

describe("the log", () => {
  test("a page is appended with numbers that go on, and says that older lines are missing", () => {
    const first = extended(undefined, { lines: [line("a"), line("b")], cursor: "1-2", isCut: true });
    const second = extended(first, { lines: [line("c")], cursor: "1-3", isCut: false });
    expect(second.lines.map(({ number, text }) => [number, text])).toEqual([
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ]);
    expect([second.cursor, second.isCut]).toEqual(["1-3", true]);
  });

  test("only the newest thousand lines are kept", () => {
    let log: Log | undefined;
    for (let page = 0; page < 6; page += 1) {
      log = extended(log, {
        lines: Array.from({ length: 200 }, () => line("x")),
        cursor: "1-1",
        isCut: false,
      });
    }
    expect([log?.lines.length, log?.lines[0]?.number, log?.isCut]).toEqual([1000, 201, true]);
  });
});

describe("a restart", () => {
  test.each([
    [{}, true, undefined],
    [{}, false, "You lack the permission processes.restart."],
    [{ fixed: "every service waits for it" }, true, "Not on request: every service waits for it."],
    [
      { state: "STOPPED" as const },
      true,
      "It was stopped on the machine; `openspot start ledger` starts it.",
    ],
    [{ state: "RESTARTING" as const, isAsked: true }, true, "It is being restarted."],
    [{ state: "RESTARTING" as const, pid: 0 }, true, undefined],
  ])("%o with the permission %s: %s", (changed, isAllowed, fault) => {
    expect(restartFault({ ...ledger, ...changed }, () => isAllowed)).toBe(fault);
  });
});
