import { SegmentedControl } from "@mantine/core";
import { t } from "#lib/language.ts";
import type { Offer } from "./offer.ts";
import type { Draft } from "./draft.ts";

const SOURCES = {
  get last() {
    return t("Last price");
  },
  get mark() {
    return t("Mark price");
  },
} as const;

interface SourceChoiceProps {
  offer: Offer;
  draft: Pick<Draft, "triggerBy">;
  onDraft: (changes: Partial<Draft>) => void;
}

/** Which price fires an order, where there are several. */
export function SourceChoice({ offer, draft, onDraft }: SourceChoiceProps) {
  if (offer.triggers.length < 2) return null;
  return (
    <SegmentedControl
      fullWidth
      size="xs"
      aria-label={t("Fires by")}
      data={offer.triggers.map((value) => ({ value, label: SOURCES[value] }))}
      value={draft.triggerBy}
      onChange={(value) => onDraft({ triggerBy: value === "mark" ? "mark" : "last" })}
    />
  );
}
