import { TickMarkType } from "lightweight-charts";
import { expect, test } from "vitest";
import { tickMark } from "./tickMark.ts";

const NEW_YEAR = Date.UTC(2027, 0, 1);
const HOUR = 3_600_000;

test("days, months and years of UTC have their names in UTC", () => {
  expect(tickMark(NEW_YEAR, TickMarkType.Year, "UTC")).toBe("2027");
  expect(tickMark(Date.UTC(2027, 1, 1), TickMarkType.Month, "UTC")).toBe("Feb");
  expect(tickMark(Date.UTC(2027, 1, 2), TickMarkType.DayOfMonth, "UTC")).toBe("02 Feb");
  expect(tickMark(NEW_YEAR + 9.5 * HOUR, TickMarkType.Time, "UTC")).toBe("09:30");
  expect(tickMark(NEW_YEAR + 9.5 * HOUR, TickMarkType.TimeWithSeconds, "UTC")).toBe("09:30:00");
});

test("elsewhere the zone's own midnight has the day, and that of UTC its date and clock", () => {
  const zone = "America/Sao_Paulo";
  expect(tickMark(NEW_YEAR, TickMarkType.Year, zone)).toBe("31 Dec 21:00");
  expect(tickMark(NEW_YEAR + 3 * HOUR, TickMarkType.Time, zone)).toBe("01 Jan");
  expect(tickMark(NEW_YEAR + 4 * HOUR, TickMarkType.Time, zone)).toBe("01:00");
});
