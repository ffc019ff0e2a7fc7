import { SegmentedControl } from "@mantine/core";
import { t } from "#lib/language.ts";
import { PERIODS, type Period } from "./periods.ts";

/** Of which time the realised results are shown. */
export function PeriodChoice({ value, onChange }: { value: Period; onChange: (period: Period) => void }) {
  return (
    <>
      <span>{t("Realised in")}</span>
      <SegmentedControl
        size="xs"
        aria-label={t("Realised in")}
        data={PERIODS.map((one) => ({ ...one }))}
        value={value}
        onChange={(chosen) => onChange(chosen)}
      />
    </>
  );
}
