import { Tooltip } from "@mantine/core";
import { t } from "../language.ts";
import { useZone } from "../preferences.ts";
import { formatTime, formatUtc } from "../time.ts";

/** A time in the chosen zone, to the second; the pointer shows it in UTC, to the millisecond. */
export function TimeText({ milliseconds }: { milliseconds: number | bigint }) {
  const zone = useZone();
  const time = Number(milliseconds);
  if (time === 0) return <span>{t("at the start")}</span>;
  return (
    <Tooltip label={formatUtc(time)}>
      <time className="figures" dateTime={new Date(time).toISOString()}>
        {formatTime(time, zone)}
      </time>
    </Tooltip>
  );
}
