import { TextInput } from "@mantine/core";
import { useState } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { t } from "#lib/language.ts";
import { typedDecimal } from "#lib/separators.ts";
import type { SelfTradePrevention } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { ChoiceField } from "../parts/ChoiceField.tsx";
import { CheckField } from "../parts/CheckField.tsx";
import { changeHabits, SIZES_MAX, sizesOf, useHabits } from "./habits.ts";
import type { Offer } from "./offer.ts";
import { type Draft, isList, type Review } from "./draft.ts";
import { waits } from "./review.ts";

const MODES: Readonly<Record<SelfTradePrevention, string>> = {
  get none() {
    return t("Let them trade");
  },
  get cancel_resting() {
    return t("Cancel the resting one");
  },
  get cancel_incoming() {
    return t("Cancel the new one");
  },
  get cancel_both() {
    return t("Cancel both");
  },
  get decrement_and_cancel() {
    return t("Reduce both by the smaller one");
  },
};

/** What few orders need: self-trade prevention, sizes of one's own, orders with one click. */
export default function AdvancedFields({
  market,
  offer,
  draft,
  faults,
  onDraft,
}: {
  market: Market;
  offer: Offer;
  draft: Draft;
  faults: Review["faults"];
  onDraft: (changes: Partial<Draft>) => void;
}) {
  const { session } = useSession();
  const userId = session?.userId;
  const habits = useHabits(userId);
  return (
    <>
      {offer.icebergs && draft.type === "limit" && waits(draft.timeInForce) && !isList(draft) && (
        <DecimalField
          label={t("Show only")}
          description={t("The book shows this much of {baseAsset} at a time. Empty: all of it.", {
            baseAsset: market.baseAsset,
          })}
          value={draft.display}
          error={faults.display}
          onValue={(display) => onDraft({ display })}
        />
      )}
      {offer.selfTradePrevention.length > 0 && (
        <ChoiceField
          label={t("Self-trade prevention")}
          description={t("If the order would meet another one of yours.")}
          choices={[
            { value: "", label: t("As your account says") },
            ...offer.selfTradePrevention.map((value) => ({ value, label: MODES[value] })),
          ]}
          value={draft.selfTradePrevention}
          onChoice={(value) =>
            onDraft({ selfTradePrevention: offer.selfTradePrevention.find((mode) => mode === value) ?? "" })
          }
        />
      )}
      {userId !== undefined && (
        <>
          <SizesField
            key={userId}
            market={market}
            kept={habits.sizes[market.symbol] ?? []}
            onSizes={(sizes) =>
              changeHabits(userId, habits, { sizes: { ...habits.sizes, [market.symbol]: sizes } })
            }
          />
          <CheckField
            label={t("One-click orders")}
            description={t(
              "Once unlocked, orders that wait for a price and changes are sent without a review. A price far from the market still needs a word.",
            )}
            checked={habits.oneClick}
            onChecked={(oneClick) => changeHabits(userId, habits, { oneClick })}
          />
        </>
      )}
    </>
  );
}

function SizesField({
  market,
  kept,
  onSizes,
}: {
  market: Market;
  kept: readonly string[];
  onSizes: (sizes: readonly string[]) => void;
}) {
  const [typed, setTyped] = useState(kept.join(" "));
  const [fault, setFault] = useState<string | null>(null);
  return (
    <TextInput
      label={t("Your sizes in {baseAsset}", { baseAsset: market.baseAsset })}
      description={t("Up to {sizesMax}, with spaces between them. A button fills each in.", {
        sizesMax: String(SIZES_MAX),
      })}
      autoComplete="off"
      spellCheck={false}
      value={typed}
      error={fault}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        const sizes = sizesOf(value.split(/\s+/).map(typedDecimal).join(" "));
        setFault(
          sizes === null
            ? t("Up to {sizesMax} amounts above zero, such as 0.1 0.5 1.", { sizesMax: String(SIZES_MAX) })
            : null,
        );
        if (sizes !== null) onSizes(sizes);
      }}
    />
  );
}
