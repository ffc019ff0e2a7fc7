import { Button, Select, SimpleGrid, Stack, TextInput, VisuallyHidden } from "@mantine/core";
import { CheckCircleFillIcon, CircleIcon, XCircleFillIcon } from "@primer/octicons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { REASON_LENGTH_MAX } from "#lib/components/ConfirmDialog.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ErrorState, ProblemNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { useEngine } from "../engine/engine.ts";
import { checkSymbol, newSymbol, type SymbolCheck, type SymbolDraft } from "../engine/markets.ts";
import { useCurrencies, useRefresh, useSymbols } from "../engine/queries.ts";
import { explain } from "../engine/messages.ts";
import classes from "./forms.module.css";

const EMPTY: SymbolDraft = {
  baseCurrency: "",
  quoteCurrency: "",
  symbolId: "",
  tickSize: "",
  lotSize: "",
  takerFee: "20",
  makerFee: "10",
};

export function NewSymbolPage() {
  const engine = useEngine();
  const refresh = useRefresh();
  const [, navigate] = useLocation();
  const currencies = useCurrencies();
  const symbols = useSymbols();
  const [draft, setDraft] = useState(EMPTY);
  const [reason, setReason] = useState("");
  const set = (change: Partial<SymbolDraft>) => setDraft((before) => ({ ...before, ...change }));
  const names = currencies.data?.map(({ currency }) => currency) ?? [];
  const checks = checkSymbol(draft, names, symbols.data ?? []);
  const faultOf = (id: string) => {
    const fault = checks.find((check) => check.id === id)?.fault;
    return fault === null || fault === "" ? undefined : fault;
  };
  const isSound = checks.every(({ fault }) => fault === "") && reason.trim() !== "";
  const create = useMutation({
    mutationFn: () => engine.createSymbol(newSymbol(draft), reason.trim()),
    onSuccess: async () => {
      const name = `${draft.baseCurrency}-${draft.quoteCurrency}`;
      toastDone(
        `${name} is created`,
        "It has no bounds yet, so nobody can trade it on the exchange. Where markets are live, list it on the page of listings.",
      );
      navigate("/symbols");
      await refresh("symbols", "stats");
    },
  });
  const failed = currencies.error ?? symbols.error;
  if (failed && (!currencies.data || !symbols.data)) {
    return (
      <>
        <PageHeader title="New symbol" />
        <Card>
          <ErrorState
            problem={explain(failed)}
            onRetry={() => void Promise.all([currencies.refetch(), symbols.refetch()])}
          />
        </Card>
      </>
    );
  }
  return (
    <>
      <PageHeader title="New symbol">
        A market of two currencies. Tick, lot and scales cannot be changed later; fees can.
      </PageHeader>
      <form
        className={classes.columns}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isSound) create.mutate();
        }}
      >
        <Stack gap="md">
          <Card title="Pair">
            <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
              <Select
                label="Base currency"
                description="What is traded."
                placeholder="Choose"
                withAsterisk
                searchable
                data={names}
                value={draft.baseCurrency || null}
                error={faultOf("pair") ?? faultOf("name")}
                nothingFoundMessage="No currency of that name"
                onChange={(value) => set({ baseCurrency: value ?? "" })}
              />
              <Select
                label="Quote currency"
                description="What it is paid with."
                placeholder="Choose"
                withAsterisk
                searchable
                data={names}
                value={draft.quoteCurrency || null}
                nothingFoundMessage="No currency of that name"
                onChange={(value) => set({ quoteCurrency: value ?? "" })}
              />
              <TextInput
                label="Symbol number"
                description="The next free one, if empty."
                inputMode="numeric"
                value={draft.symbolId}
                error={faultOf("symbolId")}
                onChange={(event) => set({ symbolId: event.currentTarget.value.trim() })}
              />
            </SimpleGrid>
          </Card>
          <Card title="Steps">
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              <DecimalField
                label="Tick size"
                description="Prices are whole multiples of it."
                placeholder="0.01"
                withAsterisk
                value={draft.tickSize}
                error={faultOf("tickSize") ?? faultOf("scale")}
                onValue={(value) => set({ tickSize: value.trim() })}
              />
              <DecimalField
                label="Lot size"
                description="Quantities are whole multiples of it."
                placeholder="0.0001"
                withAsterisk
                value={draft.lotSize}
                error={faultOf("lotSize")}
                onValue={(value) => set({ lotSize: value.trim() })}
              />
            </SimpleGrid>
          </Card>
          <Card title="Fees in basis points">
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              <TextInput
                label="Taker fee"
                description="20 is 0.20 %."
                withAsterisk
                inputMode="numeric"
                value={draft.takerFee}
                error={faultOf("takerFee")}
                onChange={(event) => set({ takerFee: event.currentTarget.value.trim() })}
              />
              <TextInput
                label="Maker fee"
                description="Negative is a rebate."
                withAsterisk
                value={draft.makerFee}
                error={faultOf("makerFee")}
                onChange={(event) => set({ makerFee: event.currentTarget.value.trim() })}
              />
            </SimpleGrid>
          </Card>
        </Stack>
        <Stack gap="md">
          <Card title="Checks">
            <ul className={classes.checks}>
              {checks.map((check) => (
                <Check key={check.id} check={check} />
              ))}
            </ul>
          </Card>
          <TextInput
            label="Reason"
            description="Stands in the audit trail."
            withAsterisk
            maxLength={REASON_LENGTH_MAX}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          {create.error && <ProblemNote problem={explain(create.error)} />}
          <div className={classes.buttons}>
            <Button component={Link} href="/symbols" variant="default">
              Cancel
            </Button>
            <Button
              type="submit"
              loading={create.isPending}
              disabled={!isSound}
              title={isSound ? undefined : "All checks must hold first, and a reason is needed."}
            >
              Create the symbol
            </Button>
          </div>
        </Stack>
      </form>
    </>
  );
}

const OUTCOMES = {
  open: { icon: <CircleIcon />, text: "Not checked yet" },
  kept: { icon: <CheckCircleFillIcon />, text: "Holds" },
  broken: { icon: <XCircleFillIcon />, text: "Broken" },
};

function Check({ check }: { check: SymbolCheck }) {
  const outcome = check.fault === null ? "open" : check.fault === "" ? "kept" : "broken";
  return (
    <li data-outcome={outcome}>
      <span>
        <span aria-hidden>{OUTCOMES[outcome].icon}</span>
        <VisuallyHidden>{OUTCOMES[outcome].text}:</VisuallyHidden>
      </span>
      <div>
        <p>{check.rule}</p>
        {check.fault && <p className={classes.fault}>{check.fault}</p>}
      </div>
    </li>
  );
}
