import { describe, expect, it } from "vitest";
import { endOfDay, isDay, startOfDay } from "./days.ts";

const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

describe("a day", () => {
  it("is a date of the calendar and nothing else", () => {
    for (const day of ["2026-11-22", "2024-02-29", "2000-01-01", "2100-12-31"]) expect(isDay(day)).toBe(true);
    for (const text of [
      "",
      "2026-11",
      "2026-02-30",
      "2026-13-01",
      "0026-11-22",
      "1999-12-31",
      "2101-01-01",
      "x",
    ])
      expect(isDay(text)).toBe(false);
    expect(() => startOfDay("yesterday", "UTC")).toThrow(RangeError);
  });

  it.each([
    ["UTC", "2026-11-22T00:00:00.000Z", "2026-11-23T00:00:00.000Z"],
    ["Asia/Kolkata", "2026-11-21T18:30:00.000Z", "2026-11-22T18:30:00.000Z"],
    ["America/New_York", "2026-11-22T05:00:00.000Z", "2026-11-23T05:00:00.000Z"],
    ["Pacific/Kiritimati", "2026-11-21T10:00:00.000Z", "2026-11-22T10:00:00.000Z"],
    ["Pacific/Niue", "2026-11-22T11:00:00.000Z", "2026-11-23T11:00:00.000Z"],
  ])("begins and ends in %s as its people count", (zone, start, end) => {
    expect(iso(startOfDay("2026-11-22", zone))).toBe(start);
    expect(iso(endOfDay("2026-11-22", zone))).toBe(end);
  });

  it("has 23 or 25 hours when the clocks change", () => {
    const hours = (day: string) =>
      (endOfDay(day, "Europe/Berlin") - startOfDay(day, "Europe/Berlin")) / 3_600_000;
    expect([hours("2026-03-29"), hours("2026-10-25"), hours("2026-11-22")]).toEqual([23, 25, 24]);
  });

  it("begins at one o'clock where midnight is left out", () => {
    expect(iso(startOfDay("2018-11-04", "America/Sao_Paulo"))).toBe("2018-11-04T03:00:00.000Z");
  });

  it("ends where the last one that can be named does", () => {
    expect(iso(endOfDay("2100-12-31", "UTC"))).toBe("2101-01-01T00:00:00.000Z");
  });
});
