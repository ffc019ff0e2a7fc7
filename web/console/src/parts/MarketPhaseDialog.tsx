import { NativeSelect, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { parseCount } from "#lib/counts.ts";
import { useEngine } from "../engine/engine.ts";
import { PHASE_MINUTES_MAX, PHASES, phaseTitle, type SymbolSpec } from "../engine/markets.ts";
import { explainIfAny } from "../engine/messages.ts";
import { useRefresh } from "../engine/queries.ts";
import { useOperator } from "../engine/session.ts";

/** Let a market enter a phase: halt it, hold an auction, go on trading. */
export function MarketPhaseDialog({
  symbol: { symbol, phase: before = "continuous", phaseCause },
  onClose,
}: {
  symbol: SymbolSpec;
  onClose: () => void;
}) {
  const engine = useEngine();
  const refresh = useRefresh();
  const [phase, setPhase] = useState(before === "continuous" ? "auction" : "continuous");
  const [minutes, setMinutes] = useState("");
  const isContinuous = phase === "continuous";
  const count = isContinuous || minutes.trim() === "" ? 0 : parseCount(minutes.trim());
  const isSound =
    count !== null && count <= PHASE_MINUTES_MAX && (count > 0 || minutes.trim() === "" || isContinuous);
  const change = useMutation({
    mutationFn: (reason: string) => engine.setPhase(symbol, phase, (count ?? 0) * 60, reason),
    onSuccess: async () => {
      onClose();
      toastDone(`${symbol}: ${phaseTitle(phase)}`);
      await refresh("symbols");
    },
  });
  return (
    <ConfirmDialog
      title={`Change the phase of ${symbol}?`}
      operator={useOperator()}
      comparisons={[{ name: "Phase", before: phaseTitle(before, phaseCause), after: phaseTitle(phase) }]}
      asksReason
      missing={[!isSound && "correct the minutes"]}
      typed={phase === "halted" ? symbol : ""}
      confirm="Change the phase"
      danger={phase === "halted"}
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(reason) => change.mutate(reason)}
      onClose={onClose}
    >
      <NativeSelect
        label="Phase"
        data={PHASES.map((known) => ({ value: known.phase, label: known.title }))}
        value={phase}
        description={PHASES.find((known) => known.phase === phase)?.description}
        onChange={(event) => setPhase(event.currentTarget.value)}
      />
      {!isContinuous && (
        <TextInput
          label="Minutes until continuous trading"
          description="Without a number it lasts until you change it."
          inputMode="numeric"
          value={minutes}
          error={isSound ? undefined : `A whole number from 1 to ${PHASE_MINUTES_MAX}, or nothing.`}
          onChange={(event) => setMinutes(event.currentTarget.value)}
        />
      )}
    </ConfirmDialog>
  );
}
