import { Button, SimpleGrid, TextInput } from "@mantine/core";
import { PencilIcon, PlusIcon, TrashIcon } from "@primer/octicons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { CoinSign } from "#lib/components/CoinSign.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { parseCount } from "#lib/counts.ts";
import { arrange, useUrlState } from "#lib/urlState.ts";
import { useEngine } from "../engine/engine.ts";
import { type Currency, CURRENCY_NAME, CURRENCY_PLACES_MAX } from "../engine/markets.ts";
import { useCurrencies, useRefresh } from "../engine/queries.ts";
import { useOperator } from "../engine/session.ts";
import { explainIfAny } from "../engine/messages.ts";

const NAME_LENGTH_MAX = 64;
const LOGO_LENGTH_MAX = 32;

const COLUMNS: readonly Column<Currency>[] = [
  {
    id: "currency",
    title: "Currency",
    cell: (row) => (
      <>
        <CoinSign asset={row.currency} logo={row.logo} /> <strong>{row.currency}</strong>
      </>
    ),
    compare: (a, b) => a.currency.localeCompare(b.currency, "en"),
  },
  {
    id: "name",
    title: "Name",
    cell: (row) => row.name,
    compare: (a, b) => a.name.localeCompare(b.name, "en"),
  },
  {
    id: "number",
    title: "Number",
    align: "right",
    cell: (row) => <span className="figures">{row.currencyId}</span>,
    compare: (a, b) => a.currencyId - b.currencyId,
  },
  {
    id: "places",
    title: "Decimal places",
    align: "right",
    cell: (row) => <span className="figures">{row.places}</span>,
    compare: (a, b) => a.places - b.places,
  },
];

export function CurrenciesPage() {
  const url = useUrlState();
  const query = useCurrencies();
  const [edited, setEdited] = useState<Currency | "new" | null>(null);
  const [deleted, setDeleted] = useState<Currency | null>(null);
  const compare = COLUMNS.find(({ id }) => id === url.sort?.column)?.compare;
  const everything = { index: 0, size: query.data?.length ?? 0 };
  return (
    <>
      <PageHeader
        title="Currencies"
        actions={
          <Button leftSection={<PlusIcon />} onClick={() => setEdited("new")}>
            New currency
          </Button>
        }
      >
        What balances and symbols are made of. Decimal places say how finely deposits of a currency are
        counted.
      </PageHeader>
      <Card flush>
        <DataTable
          label="Currencies"
          columns={COLUMNS}
          rows={query.data && arrange(query.data, compare, url.sort?.descending ?? false, everything)}
          rowId={(row) => row.currency}
          rowName={(row) => row.currency}
          state={query}
          problem={explainIfAny(query.error)}
          sort={url.sort}
          onSort={url.toggleSort}
          empty={<EmptyState title="No currencies yet">Create one; a symbol needs two.</EmptyState>}
          actions={(row) => [
            { label: "Change…", icon: <PencilIcon />, onClick: () => setEdited(row) },
            { label: "Delete…", icon: <TrashIcon />, danger: true, onClick: () => setDeleted(row) },
          ]}
        />
      </Card>
      {edited && (
        <CurrencyDialog currency={edited === "new" ? null : edited} onClose={() => setEdited(null)} />
      )}
      {deleted && <DeleteCurrencyDialog currency={deleted} onClose={() => setDeleted(null)} />}
    </>
  );
}

/** Create a currency, or change name, places and logo of one. */
function CurrencyDialog({ currency: known, onClose }: { currency: Currency | null; onClose: () => void }) {
  const engine = useEngine();
  const refresh = useRefresh();
  const [code, setCode] = useState(known?.currency ?? "");
  const [name, setName] = useState(known?.name ?? "");
  const [placesText, setPlacesText] = useState(String(known?.places ?? CURRENCY_PLACES_MAX));
  const [logo, setLogo] = useState(known?.logo ?? "");
  const places = parseCount(placesText.trim());
  const codeFault = CURRENCY_NAME.test(code) ? "" : "2 to 10 capital letters or digits are needed.";
  const placesFault =
    places !== null && places <= CURRENCY_PLACES_MAX
      ? ""
      : `A whole number from 0 to ${CURRENCY_PLACES_MAX} is needed.`;
  const save = useMutation({
    mutationFn: (reason: string) => {
      const values = {
        name: name.trim() || code,
        places: places ?? CURRENCY_PLACES_MAX,
        logo: logo.trim(),
      };
      return known
        ? engine.changeCurrency(code, values, reason)
        : engine.createCurrency({ currency: code, ...values }, reason);
    },
    onSuccess: async () => {
      onClose();
      toastDone(`${code} is ${known ? "changed" : "created"}`);
      await refresh("currencies");
    },
  });
  return (
    <ConfirmDialog
      title={known ? `Change ${known.currency}` : "New currency"}
      operator={useOperator()}
      missing={[codeFault !== "" && "name the currency", placesFault !== "" && "correct the decimal places"]}
      comparisons={
        known
          ? [
              { name: "Name", before: known.name, after: name.trim() || code },
              { name: "Decimal places", before: known.places, after: places ?? "–" },
              { name: "Logo", before: known.logo || "–", after: logo.trim() || "–" },
            ]
          : []
      }
      asksReason
      confirm={known ? "Change the currency" : "Create the currency"}
      isBusy={save.isPending}
      problem={explainIfAny(save.error)}
      onConfirm={(reason) => save.mutate(reason)}
      onClose={onClose}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label="Currency"
          description="Such as BTC."
          value={code}
          maxLength={10}
          readOnly={known !== null}
          data-autofocus={known === null || undefined}
          error={code !== "" && codeFault}
          onChange={(event) => setCode(event.currentTarget.value.toUpperCase().trim())}
        />
        <TextInput
          label="Name"
          description="Such as Bitcoin."
          value={name}
          maxLength={NAME_LENGTH_MAX}
          data-autofocus={known !== null || undefined}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label="Decimal places"
          description={`At most ${CURRENCY_PLACES_MAX}.`}
          inputMode="numeric"
          value={placesText}
          error={placesFault}
          onChange={(event) => setPlacesText(event.currentTarget.value)}
        />
        <TextInput
          label="Logo"
          description={`Such as "btc", for coins/btc.svg or .png in the folder of the brand. Empty: none.`}
          value={logo}
          maxLength={LOGO_LENGTH_MAX}
          onChange={(event) => setLogo(event.currentTarget.value)}
        />
      </SimpleGrid>
    </ConfirmDialog>
  );
}

/** Delete a currency; the engine refuses that while a symbol or a balance uses it. */
function DeleteCurrencyDialog({
  currency: { currency, name },
  onClose,
}: {
  currency: Currency;
  onClose: () => void;
}) {
  const engine = useEngine();
  const refresh = useRefresh();
  const removal = useMutation({
    mutationFn: (reason: string) => engine.deleteCurrency(currency, reason),
    onSuccess: async () => {
      onClose();
      toastDone(`${currency} is deleted`);
      await refresh("currencies");
    },
  });
  return (
    <ConfirmDialog
      title={`Delete ${currency}?`}
      operator={useOperator()}
      comparisons={[{ name: currency, before: name, after: "Deleted" }]}
      asksReason
      typed={currency}
      confirm="Delete the currency"
      danger
      isBusy={removal.isPending}
      problem={explainIfAny(removal.error)}
      onConfirm={(reason) => removal.mutate(reason)}
      onClose={onClose}
    >
      <p>The engine refuses this while a symbol or a balance uses the currency.</p>
    </ConfirmDialog>
  );
}
