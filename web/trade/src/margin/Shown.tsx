import { SegmentedControl } from "@mantine/core";
import { t } from "#lib/language.ts";

/** Switches a list between rows under way and rows that have ended. */
export function Shown({
  current,
  ended,
  isEnded,
  onEnded,
}: {
  current: string;
  ended: string;
  isEnded: boolean;
  onEnded: (isEnded: boolean) => void;
}) {
  return (
    <SegmentedControl
      size="xs"
      aria-label={t("Shown")}
      data={[
        { value: "current", label: current },
        { value: "ended", label: ended },
      ]}
      value={isEnded ? "ended" : "current"}
      onChange={(value) => onEnded(value === "ended")}
    />
  );
}
