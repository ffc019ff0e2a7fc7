import { Checkbox, NativeSelect, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { explainIfAny } from "../engine/messages.ts";
import {
  type MarketListing,
  type MarketTerms,
  REASON_LENGTH_MIN,
  useListingChange,
  usePresentMarket,
} from "../operator/listings.ts";
import {
  differencesOf,
  isTyped,
  missingTerms,
  OFFERS,
  offersChange,
  offersOf,
  PAYMENT_FIELDS,
  rebased,
  REDEMPTIONS,
  STAKING_FIELDS,
} from "../operator/offers.ts";
import { useActingName } from "../operator/session.ts";

interface OffersDialogProps {
  market: MarketListing;
  terms: MarketTerms;
  onClose: () => void;
}

interface TermFieldsProps {
  legend: string;
  fields: typeof STAKING_FIELDS;
  values: Record<string, string>;
  onChange: (name: string, value: string) => void;
}

/** The fields of a service's terms, each with its rule. */
function TermFields({ legend, fields, values, onChange }: TermFieldsProps) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        {fields.map((field) => {
          const { name, title, description, kind } = field;
          const value = values[name] ?? "";
          const common = {
            label: title,
            description,
            value,
            error: value !== "" && !isTyped(field, value) ? "It does not fit." : undefined,
          };
          if (kind === "redemption")
            return (
              <NativeSelect
                key={name}
                {...common}
                data={[...REDEMPTIONS]}
                onChange={({ currentTarget }) => onChange(name, currentTarget.value)}
              />
            );
          if (kind === "count")
            return (
              <TextInput
                key={name}
                {...common}
                inputMode="numeric"
                maxLength={9}
                onChange={({ currentTarget }) => onChange(name, currentTarget.value.trim())}
              />
            );
          return <DecimalField key={name} {...common} onValue={(text) => onChange(name, text.trim())} />;
        })}
      </SimpleGrid>
    </fieldset>
  );
}

/** Change what a market offers beside trading. */
export function OffersDialog({ market, terms, onClose }: OffersDialogProps) {
  const { symbol, baseCurrency: base, quoteCurrency: quote } = market;
  // What the page reads meanwhile does not change what is compared, unless the change is refused for it.
  const [seen, setSeen] = useState(() => ({ version: market.version, before: offersOf(terms) }));
  const { before } = seen;
  const [draft, setDraft] = useState(before);
  const differences = differencesOf(before, draft);
  const missing = missingTerms(before, draft);
  const body = offersChange(before, draft);
  const change = useListingChange(symbol, () => {
    onClose();
    toastDone(`What ${symbol} offers is changed`);
  });
  const present = usePresentMarket(symbol, change.error);
  if (present?.terms && present.version !== seen.version) {
    const now = offersOf(present.terms);
    setSeen({ version: present.version, before: now });
    setDraft(rebased(before, draft, now));
  }
  const set = (of: "payments" | "staking") => (name: string, value: string) =>
    setDraft((now) => ({ ...now, [of]: { ...now[of], [name]: value } }));
  return (
    <ConfirmDialog
      title={`Change what ${symbol} offers?`}
      operator={useActingName()}
      comparisons={differences}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      reasonStandsIn="the market's history and the audit trail"
      missing={[
        differences.length === 0 && "change something",
        missing.length > 0 && `fill in: ${missing.join(", ")}`,
      ]}
      confirm="Change the offers"
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(reason) => body && change.mutate({ ...body, version: seen.version, reason })}
      onClose={onClose}
    >
      What is taken back takes nothing new. Quotes, payments and stakes of before go on to their end. {base}{" "}
      is offered as long as one of its markets says so. Margin is not among them: it keeps to the markets that
      the platform began with.
      <Stack gap="md" mt="sm">
        <Checkbox.Group
          label="Offered"
          value={draft.offers}
          onChange={(names) =>
            setDraft((now) => ({
              ...now,
              offers: OFFERS.map(({ name }) => name).filter((name) => names.includes(name)),
            }))
          }
        >
          <Stack gap="xs" mt="xs">
            {OFFERS.map(({ name, title, describe }) => (
              <Checkbox key={name} value={name} label={title} description={describe(base, quote)} />
            ))}
          </Stack>
        </Checkbox.Group>
        {draft.offers.includes("payments") && (
          <TermFields
            legend={`Terms of payments, in ${base}`}
            fields={PAYMENT_FIELDS}
            values={draft.payments}
            onChange={set("payments")}
          />
        )}
        {draft.offers.includes("staking") && (
          <TermFields
            legend={`Terms of stakes, in ${base}`}
            fields={STAKING_FIELDS}
            values={draft.staking}
            onChange={set("staking")}
          />
        )}
      </Stack>
    </ConfirmDialog>
  );
}
