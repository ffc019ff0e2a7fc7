import { describe, expect, it } from "vitest";
import {
  changesSince,
  scheduleOf,
  shownTime,
  timedAfter,
  timeFaults,
  timesOf,
  typedInVain,
  typedTime,
} from "./marketTimes.ts";

const NOW = Date.UTC(2027, 0, 1);
const NONE = { "post-only": "", auction: "", open: "", delisting: "" };

describe("times of a market", () => {
  it("are those of its schedule, to the minute or as exact as they are", () => {
    const schedule = [
      { status: "open" as const, at: Date.UTC(2027, 0, 4, 12) },
      { status: "delisting" as const, at: Date.UTC(2027, 5, 4, 12, 0, 30, 5) },
    ];
    const times = { ...NONE, open: "2027-01-04T12:00", delisting: "2027-06-04T12:00:30.005" };
    expect(timesOf(schedule)).toEqual(times);
    expect(scheduleOf("announced", times)).toEqual(schedule);
    expect(timesOf([])).toEqual(NONE);
    expect(typedTime(Date.UTC(2027, 0, 4, 12, 0, 1))).toBe("2027-01-04T12:00:01.000");
    expect([shownTime("2027-01-04T12:00"), shownTime("")]).toEqual(["2027-01-04 12:00 UTC", "none"]);
  });

  it("are left out of the schedule when they are taken back", () => {
    expect(scheduleOf("open", NONE)).toEqual([]);
    expect(scheduleOf("auction", { ...NONE, open: "2027-01-04T12:00" })).toEqual([
      { status: "open", at: Date.UTC(2027, 0, 4, 12) },
    ]);
  });

  it("are of statuses that can still follow", () => {
    const statuses = ["announced", "post-only", "auction", "open", "delisting", "delisted"] as const;
    expect(statuses.map(timedAfter)).toEqual([
      ["post-only", "auction", "open", "delisting"],
      ["auction", "open", "delisting"],
      ["open", "delisting"],
      ["delisting"],
      [],
      [],
    ]);
    // A field that is not shown any more says nothing.
    const times = { ...NONE, open: "2020-01-01T00:00", delisting: "2027-02-01T00:00" };
    expect(timeFaults("open", times, NOW)).toEqual({});
    expect(scheduleOf("open", times)).toEqual([{ status: "delisting", at: Date.UTC(2027, 1, 1) }]);
  });
});

describe("faults of times", () => {
  it("are in no sound or empty time", () => {
    const times = {
      "post-only": "2027-01-01T00:01",
      auction: "2027-01-04T11:30",
      open: "2027-01-04T12:00",
      delisting: "2028-01-02T00:00",
    };
    expect(timeFaults("announced", times, NOW)).toEqual({});
    expect(timeFaults("announced", NONE, NOW)).toEqual({});
  });

  it("say what each time is not", () => {
    const past = { ...NONE, "post-only": "soon", auction: "2027-01-01T00:00", delisting: "2028-01-02T00:01" };
    expect(timeFaults("announced", past, NOW, past)).not.toHaveProperty("auction");
    expect(timeFaults("announced", past, NOW)).toEqual({
      "post-only": "A date and a time are needed.",
      auction: "It must be in the future.",
      delisting: "It must be within 366 days.",
    });
    const mixed = { ...NONE, auction: "2027-01-04T12:00", open: "2027-01-04T12:00" };
    expect(timeFaults("announced", mixed, NOW)).toEqual({ open: "It must be after Auction." });
  });
});

describe("a market that changes while its dialog is open", () => {
  const first = {
    status: "announced" as const,
    times: { ...NONE, "post-only": "2027-01-02T00:00", open: "2027-01-04T12:00" },
  };

  it("is told of with what was and what is", () => {
    const moved = {
      ...first,
      times: { ...first.times, open: "2027-01-05T12:00", delisting: "2027-06-04T12:00" },
    };
    expect(changesSince(first, moved)).toEqual([
      { name: "Open from", before: "2027-01-04 12:00 UTC", after: "2027-01-05 12:00 UTC" },
      { name: "Delisting from", before: "none", after: "2027-06-04 12:00 UTC" },
    ]);
    expect(changesSince(first, first)).toEqual([]);
  });

  it("has left statuses behind, and a time that was typed for one is in vain", () => {
    const now = { status: "auction" as const, times: { ...NONE, open: "2027-01-04T12:00" } };
    expect(changesSince(first, now)).toEqual([{ name: "Status", before: "Announced", after: "Auction" }]);
    expect(typedInVain(now, { ...now.times, "post-only": "2027-01-03T00:00", open: "" })).toEqual([
      "post-only",
    ]);
    expect(typedInVain(now, now.times)).toEqual([]);
    expect(changesSince(first, { status: "delisting", times: NONE })).toEqual([
      { name: "Status", before: "Announced", after: "Delisting" },
    ]);
  });
});
