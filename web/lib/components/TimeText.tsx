import { Tooltip } from "@mantine/core";
import { type PointerEvent, useEffect, useRef, useState } from "react";
import { t } from "../language.ts";
import { useZone } from "../preferences.ts";
import { formatTime, formatUtc } from "../time.ts";

/** As long as the library waits before it shows a tip. */
const REST_MS = 300;

/** A time in the chosen zone, to the second; the pointer shows it in UTC, to the millisecond. */
export function TimeText({ milliseconds }: { milliseconds: number | bigint }) {
  const zone = useZone();
  // A list has hundreds of times: the tip is made when the pointer rests on one.
  const [pointedAt, setPointedAt] = useState<HTMLElement | null>(null);
  const rest = useRef(0);
  useEffect(() => () => window.clearTimeout(rest.current), []);
  const time = Number(milliseconds);
  if (time === 0) return <span>{t("at the start")}</span>;
  const enter = ({ currentTarget }: PointerEvent<HTMLElement>) => {
    rest.current = window.setTimeout(() => setPointedAt(currentTarget), REST_MS);
  };
  const leave = () => {
    window.clearTimeout(rest.current);
    setPointedAt(null);
  };
  return (
    <>
      <time
        className="figures"
        dateTime={new Date(time).toISOString()}
        onPointerEnter={enter}
        onPointerLeave={leave}
      >
        {formatTime(time, zone)}
      </time>
      {pointedAt && <Tooltip defaultOpened target={pointedAt} label={formatUtc(time)} />}
    </>
  );
}
