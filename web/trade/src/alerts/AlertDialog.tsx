import { Button, Checkbox, Input, SegmentedControl, Select, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { attemptKey, returned, useExchange } from "../api/client.ts";
import { fieldReason } from "../api/fieldReason.ts";
import { explain } from "../api/messages.ts";
import { useMarkets, useTickers } from "../api/queries.ts";
import fields from "../parts/Fields.module.css";
import {
  conditionOf,
  type Direction,
  DIRECTIONS,
  DIRECTIONS_WITHIN,
  type Draft,
  draftOf,
  INTERVALS,
  isThere,
  lackOf,
  newDraft,
  NOTE_LENGTH_MAX,
  type PriceAlert,
  restText,
  type Source,
  SOURCES,
} from "./draft.ts";
import { ALERTS } from "./queries.ts";

interface AlertDialogProps {
  /** The alert to change; without it a new one is made. */
  alert?: PriceAlert;
  /** The market of a new one, null where none is open. */
  symbol?: string | null;
  onClose: () => void;
}

/** Makes or changes a price alert. */
export default function AlertDialog({ alert, symbol = null, onClose }: AlertDialogProps) {
  const markets = useMarkets();
  const tickers = useTickers();
  const [draft, setDraft] = useState<Draft>(alert ? draftOf(alert) : newDraft(symbol));
  const save = useSave(draft, alert, onClose);
  const set = (change: Partial<Draft>) => {
    setDraft({ ...draft, ...change });
    save.reset();
  };
  const quote = draft.symbol?.split("-")[1] ?? "";
  const last = tickers.data?.find((ticker) => ticker.symbol === draft.symbol)?.lastPrice;
  const missing = lackOf(draft);
  const refused = (field: string) =>
    fieldReason(save.error, field, (reason) => t("It {reason}.", { reason }));
  const symbols = (markets.data ?? []).filter(({ active }) => active).map((market) => market.symbol);
  return (
    <Dialog
      onClose={onClose}
      title={alert ? t("Change the alert of {symbol}", { symbol: alert.symbol }) : t("Alert me")}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (missing === null && !save.isPending) save.mutate();
        }}
      >
        <Stack gap="md">
          {!alert && (
            <Select
              label={t("Market")}
              searchable
              nothingFoundMessage={t("No market of that name")}
              data={symbols}
              value={draft.symbol}
              onChange={(chosen) => set({ symbol: chosen })}
            />
          )}
          <Choice
            label={t("Price of")}
            choices={SOURCES}
            value={draft.source}
            onChange={(source: Source) => set({ source })}
          />
          <Choice
            label={t("Direction")}
            choices={DIRECTIONS}
            value={draft.direction}
            onChange={(direction: Direction) => set({ direction })}
          />
          <DecimalField
            label={quote ? t("Price in {quote}", { quote }) : t("Price")}
            description={last ? t("The last trade was at {last}.", { last: formatDecimal(last) }) : undefined}
            value={draft.price}
            data-autofocus
            error={refused("price")}
            onValue={(price) => set({ price })}
          />
          <Checkbox
            label={t("Tell me again")}
            checked={draft.repeat}
            onChange={(event) => set({ repeat: event.currentTarget.checked })}
          />
          {draft.repeat && (
            <>
              <Select
                label={t("At most once in")}
                allowDeselect={false}
                data={restChoices(draft.interval)}
                value={String(draft.interval)}
                onChange={(chosen) => set({ interval: restOf(chosen) ?? draft.interval })}
              />
              <DecimalField
                label={t("Only after the price was back by ({unit})", { unit: quote || t("optional") })}
                description={t("Empty: it need not go back.")}
                value={draft.distance}
                error={refused("rearmDistance")}
                onValue={(distance) => set({ distance })}
              />
            </>
          )}
          <TextInput
            label={t("Note")}
            description={t("The alert repeats it.")}
            value={draft.note}
            maxLength={NOTE_LENGTH_MAX}
            autoComplete="off"
            error={refused("note")}
            onChange={(event) => set({ note: event.currentTarget.value })}
          />
          {save.error && <ProblemNote problem={explain(save.error)} />}
          <Button
            type="submit"
            loading={save.isPending}
            disabled={missing !== null}
            aria-describedby="alert-hint"
          >
            {alert ? t("Save and arm it") : t("Alert me")}
          </Button>
          <p id="alert-hint" role="status" className={fields.hint}>
            {missing !== null && t("Missing: {missing}.", { missing })}
            {missing === null &&
              draft.source === "last_trade" &&
              isThere(draft, last) &&
              t("The price is there already: the next trade may fire the alert.")}
          </p>
        </Stack>
      </form>
    </Dialog>
  );
}

function useSave(draft: Draft, alert: PriceAlert | undefined, onDone: () => void) {
  const { rest } = useExchange();
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => {
      const condition = conditionOf(draft);
      return alert
        ? returned(
            rest.PATCH("/api/v1/alerts/{alertId}", {
              params: { path: { alertId: alert.id } },
              body: { ...condition, armed: true },
            }),
          )
        : returned(
            rest.POST("/api/v1/alerts", {
              params: { header: { "Idempotency-Key": attemptKey() } },
              body: { ...condition, symbol: draft.symbol ?? "" },
            }),
          );
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ALERTS }),
    onSuccess: ({ symbol, direction, price }) => {
      toastDone(
        t("The alert is armed"),
        `${symbol}, ${DIRECTIONS_WITHIN[direction]} ${formatDecimal(price)}`,
      );
      onDone();
    },
  });
}

function Choice<Value extends string>({
  label,
  choices,
  value,
  onChange,
}: {
  label: string;
  choices: Readonly<Record<Value, string>>;
  value: Value;
  onChange: (value: Value) => void;
}) {
  return (
    <div>
      <Input.Label component="div">{label}</Input.Label>
      <SegmentedControl<Value>
        fullWidth
        aria-label={label}
        data={(Object.keys(choices) as Value[]).map((one) => ({ value: one, label: choices[one] }))}
        value={value}
        onChange={onChange}
      />
    </div>
  );
}

/** The rests to choose from, with the one that a program has set. */
function restChoices(seconds: number) {
  const offered = INTERVALS.map((one) => one.seconds);
  return (offered.includes(seconds) ? offered : [seconds, ...offered]).map((one) => ({
    value: String(one),
    label: restText(one),
  }));
}

function restOf(chosen: string | null): number | undefined {
  return INTERVALS.find(({ seconds }) => String(seconds) === chosen)?.seconds;
}
