import { describe, expect, it } from "vitest";
import { readStatus, summary } from "./status.ts";

const one = (name: string, state: string) => ({ name, state, since: 1 });

describe("the status", () => {
  it("lists the functions as people look for them", () => {
    const functions = [one("margin", "works"), one("trading", "works"), one("prices", "works")];
    expect(readStatus({ at: 1, functions }).map(({ name }) => name)).toEqual(["trading", "prices", "margin"]);
  });

  it("says first what is down, then what works in part", () => {
    const said = (...functions: object[]) => summary(readStatus({ functions }));
    expect(said(one("trading", "works"), one("margin", "works"))).toBe("Everything works.");
    expect(said(one("trading", "works"), one("margin", "degraded"))).toBe(
      "Works in part at present: Margin.",
    );
    expect(said(one("trading", "down"), one("margin", "degraded"))).toBe("Down at present: Trading.");
  });

  it.each([null, {}, { functions: [{}] }, { functions: [one("trading", "perhaps")] }])(
    "refuses %j",
    (content) => {
      expect(() => readStatus(content)).toThrow("the status");
    },
  );
});
