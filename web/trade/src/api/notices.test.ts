import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { separatorsOf, setSeparators } from "#lib/separators.ts";
import {
  isUrgent,
  type Notice,
  NOTICES_MAX,
  pageOf,
  readNotice,
  readNotices,
  withNotice,
  withShownAmounts,
} from "./notices.ts";

const notice = (number: number, isRead = false): Notice => ({
  id: `n-${number}`,
  kind: "margin.liquidation",
  title: `Title ${number}`,
  text: "A text.",
  createdAt: number,
  isRead,
});

/** The cases of the table that mails and devices are held to as well: language, text as stored, text as shown. */
function shownAmounts(): [string, string, string][] {
  const file = join(import.meta.dirname, "../../../../tests/scenarios/notices/amounts.txt");
  const lines = readFileSync(file, "utf-8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  return lines
    .filter((line) => !line.startsWith(" -> "))
    .map((stored, at) => [stored.slice(0, 2), stored.slice(4), (lines[2 * at + 1] ?? "").slice(4)]);
}

// The test files share their modules: what follows sees the usual separators again.
afterEach(() => setSeparators(separatorsOf("en")));

const ids = (notices: readonly Notice[]) => notices.map(({ createdAt }) => createdAt);

describe("notices", () => {
  it("stand newest first, also if one comes late", () => {
    const both = withNotice(withNotice([], notice(1)), notice(3));
    expect(ids(withNotice(both, notice(2)))).toEqual([3, 2, 1]);
  });

  it("are told once, and stay read", () => {
    expect(withNotice([notice(1, true)], notice(1))).toEqual([notice(1, true)]);
  });

  it("are at most so many: the oldest go", () => {
    let all: Notice[] = [];
    for (let number = 1; number <= NOTICES_MAX + 5; number += 1) all = withNotice(all, notice(number));
    expect(all).toHaveLength(NOTICES_MAX);
    expect([all[0]?.createdAt, all.at(-1)?.createdAt]).toEqual([NOTICES_MAX + 5, 6]);
    expect(readNotices(JSON.stringify([...all, notice(1)]))).toHaveLength(NOTICES_MAX);
  });

  it("survive being kept", () => {
    const all = [notice(2, true), notice(1)];
    expect(readNotices(JSON.stringify(all))).toEqual(all);
  });

  it("are kept as they came, and shown with their amounts in groups, once", () => {
    const came = "1234567.5 USDT";
    expect(readNotice({ ...notice(1), text: came })?.text).toBe(came);
    expect(withShownAmounts(came)).toBe("1,234,567.5 USDT");
  });

  it.each(shownAmounts())("show their amounts as mails do: %s %s", (language, stored, shown) => {
    setSeparators(separatorsOf(language));
    expect(withShownAmounts(stored)).toBe(shown);
  });

  it.each([null, "", "{", "null", "{}", '"text"', "[1, null, []]", '[{"id": "n-1"}]'])(
    "are none in %j",
    (text) => expect(readNotices(text)).toEqual([]),
  );

  it.each([
    { ...notice(1), id: 1 },
    { ...notice(1), title: undefined },
    { ...notice(1), text: ["a"] },
    { ...notice(1), createdAt: "2026" },
    { ...notice(1), createdAt: -1 },
    { ...notice(1), createdAt: 1e300 },
    { ...notice(1), createdAt: null },
  ])("of a strange shape are left out: %j", (strange) => {
    expect(readNotice(strange)).toBeNull();
    expect(readNotices(JSON.stringify([strange, notice(2)]))).toEqual([notice(2)]);
  });

  it("carry nothing else along, and are unread unless they say that they are read", () => {
    expect(readNotice({ ...notice(1), isRead: "yes", href: "https://elsewhere.example" })).toEqual(notice(1));
  });

  it("lead to the page that they are about", () => {
    expect(pageOf("order.filled")?.path).toBe("/history");
    expect(pageOf("balance.adjusted")?.path).toBe("/wallet");
    expect(pageOf("withdrawal_completed")?.path).toBe("/withdrawals");
    expect(pageOf("new_login")?.path).toBe("/account/security");
    expect(pageOf("weather.fine")).toBeNull();
    expect(pageOf("constructor")).toBeNull();
  });

  it("stay on the screen where somebody has to act", () => {
    expect(
      [
        "margin.liquidation",
        "new.login",
        "security.token_reused",
        "order.list_not_armed",
        "order.not_filled",
      ].every(isUrgent),
    ).toBe(true);
    expect(["deposit.credited", "order.filled", "password.changed"].filter(isUrgent)).toEqual([]);
  });
});
