/** The times below a chart, in a time zone. */
import { TickMarkType } from "lightweight-charts";
import { formatTime } from "#lib/time.ts";

const MIDNIGHT = "00:00";

/**
 * What stands at a time. The chart lets days, months and years begin with those of UTC. Where the zone has another time
 * then, that is told, and the zone's own midnight has the day.
 */
export function tickMark(at: number, type: TickMarkType, zone: string): string {
  // "22 Nov 2026 09:05:03"
  const [day = "", month = "", year = "", clock = ""] = formatTime(at, zone).split(" ");
  const minute = clock.slice(0, MIDNIGHT.length);
  const date = `${day} ${month}`;
  if (type === TickMarkType.Time || type === TickMarkType.TimeWithSeconds) {
    if (minute === MIDNIGHT) return date;
    return type === TickMarkType.Time ? minute : clock;
  }
  if (minute !== MIDNIGHT) return `${date} ${minute}`;
  if (type === TickMarkType.Year) return year;
  return type === TickMarkType.Month ? month : date;
}
