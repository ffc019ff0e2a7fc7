import { SegmentedControl, Select, SimpleGrid, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { useEngine } from "../engine/engine.ts";
import { useBalances, useCurrencies, useRefresh } from "../engine/queries.ts";
import { useOperator } from "../engine/session.ts";
import { explainIfAny } from "../engine/messages.ts";
import { type AdjustmentType, amountFault, previewAdjustment } from "./adjustment.ts";
import classes from "./AdjustBalanceDialog.module.css";

interface AdjustBalanceDialogProps {
  /** Empty where the operator chooses. */
  participantId?: string;
  currency?: string;
  onClose: () => void;
}

/** Add to a balance of the engine or take from it, with before and after, a reason, and the participant's id typed. */
export function AdjustBalanceDialog(props: AdjustBalanceDialogProps) {
  const engine = useEngine();
  const refresh = useRefresh();
  const currencies = useCurrencies();
  const [participantId, setParticipantId] = useState(props.participantId ?? "");
  const [currency, setCurrency] = useState(props.currency ?? "");
  const [type, setType] = useState<AdjustmentType>("DEPOSIT");
  const [amount, setAmount] = useState("");
  const participant = participantId.trim();
  const balances = useBalances(participant, participant !== "");
  const balance = balances.data?.find((row) => row.currency === currency);
  const fault = amountFault(amount.trim());
  const isKnown = balances.data !== undefined && currency !== "" && fault === "";
  const preview = isKnown ? previewAdjustment(balance, type, amount.trim()) : null;
  const adjust = useMutation({
    mutationFn: (reason: string) =>
      engine.adjustBalance({ participantId: participant, currency, amount: amount.trim(), type, reason }),
    onSuccess: async () => {
      props.onClose();
      const sign = type === "DEPOSIT" ? "+" : "−";
      toastDone(
        "The balance is adjusted",
        `${participant}: ${sign}${formatDecimal(amount.trim())} ${currency}`,
      );
      await refresh("balances", "risk", "participants", "stats");
    },
  });
  return (
    <ConfirmDialog
      title="Adjust a balance at the engine alone"
      operator={useOperator()}
      missing={[
        participant === "" && "name a participant",
        currency === "" && "choose a currency",
        fault !== "" && "enter an amount",
      ]}
      comparisons={
        preview
          ? [
              {
                name: "Total",
                before: <Amount value={preview.total.before} unit={currency} />,
                after: <Amount value={preview.total.after} unit={currency} />,
              },
              {
                name: "Available",
                before: <Amount value={preview.available.before} unit={currency} />,
                after: <Amount value={preview.available.after} unit={currency} />,
              },
            ]
          : []
      }
      asksReason
      typed={participant}
      confirm={type === "DEPOSIT" ? "Add to the balance" : "Take from the balance"}
      danger={type === "WITHDRAW"}
      isBusy={adjust.isPending}
      problem={explainIfAny(adjust.error ?? balances.error)}
      onConfirm={(reason) => adjust.mutate(reason)}
      onClose={props.onClose}
    >
      <WarningNote>
        This makes a difference between engine and ledger. `openspot reconcile` reports it, and no proof of
        reserves can be made of an account that the ledger sees below zero, until the difference is booked: on
        the page Health, “Adjustments at the engine alone”. What a user is given or owes belongs on the page
        of the user, where one transfer changes both.
      </WarningNote>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label="Participant id"
          value={participantId}
          maxLength={64}
          spellCheck={false}
          autoCapitalize="none"
          readOnly={props.participantId !== undefined}
          data-autofocus={props.participantId === undefined || undefined}
          onChange={(event) => setParticipantId(event.currentTarget.value)}
        />
        <Select
          label="Currency"
          placeholder="Choose"
          searchable
          data={currencies.data?.map((row) => row.currency) ?? []}
          value={currency === "" ? null : currency}
          nothingFoundMessage="No currency of that name"
          onChange={(value) => setCurrency(value ?? "")}
        />
        <div>
          <span className={classes.label} aria-hidden>
            Type
          </span>
          <SegmentedControl
            fullWidth
            aria-label="Type"
            data={[
              { value: "DEPOSIT", label: "Deposit" },
              { value: "WITHDRAW", label: "Withdraw" },
            ]}
            value={type}
            onChange={(value) => setType(value)}
          />
        </div>
        <DecimalField
          label="Amount"
          value={amount}
          data-autofocus={props.participantId !== undefined || undefined}
          error={amount.trim() !== "" && fault}
          rightSection={<span className={classes.unit}>{currency}</span>}
          rightSectionWidth={currency === "" ? 12 : 64}
          onValue={setAmount}
        />
      </SimpleGrid>
      {preview?.isTooMuch && (
        <WarningNote>
          This is more than the {formatDecimal(preview.available.before)} {currency} that are available. The
          engine will refuse it: cancel open orders first, or take less.
        </WarningNote>
      )}
    </ConfirmDialog>
  );
}
