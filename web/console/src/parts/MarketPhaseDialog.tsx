import { NativeSelect, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import type { Problem } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { parseCount } from "#lib/counts.ts";
import { useEngine } from "../engine/engine.ts";
import { PHASE_MINUTES_MAX, PHASES, phaseTitle, type SymbolSpec } from "../engine/markets.ts";
import { explainIfAny } from "../engine/messages.ts";
import { useRefresh } from "../engine/queries.ts";
import { useOperator } from "../engine/session.ts";
import {
  type MarketListing,
  type Phase,
  REASON_LENGTH_MIN,
  usePhaseChange,
  usePresentMarket,
} from "../operator/listings.ts";
import { useActingName } from "../operator/session.ts";

interface Wanted {
  phase: Phase;
  seconds: number;
  reason: string;
}

interface PhaseDialogProps {
  symbol: string;
  /** The phase that the market is in. */
  before: string;
  /** Why the engine began it; an empty text if it did not. */
  cause: string;
  operator: string;
  isBusy: boolean;
  problem: Problem | null;
  onConfirm: (wanted: Wanted) => void;
  onClose: () => void;
}

/** Ask which phase a market is to enter, and why. */
function PhaseDialog({ symbol, before, cause, onConfirm, ...rest }: PhaseDialogProps) {
  const [phase, setPhase] = useState<Phase>(before === "continuous" ? "auction" : "continuous");
  const [minutes, setMinutes] = useState("");
  const isContinuous = phase === "continuous";
  const count = isContinuous || minutes.trim() === "" ? 0 : parseCount(minutes.trim());
  const isSound =
    count !== null && count <= PHASE_MINUTES_MAX && (count > 0 || minutes.trim() === "" || isContinuous);
  return (
    <ConfirmDialog
      {...rest}
      title={`Change the phase of ${symbol}?`}
      comparisons={[{ name: "Phase", before: phaseTitle(before, cause), after: phaseTitle(phase) }]}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      missing={[!isSound && "correct the minutes"]}
      typed={phase === "halted" ? symbol : ""}
      confirm="Change the phase"
      danger={phase === "halted"}
      onConfirm={(reason) => onConfirm({ phase, seconds: (count ?? 0) * 60, reason })}
    >
      <NativeSelect
        label="Phase"
        data={PHASES.map((known) => ({ value: known.phase, label: known.title }))}
        value={phase}
        description={PHASES.find((known) => known.phase === phase)?.description}
        onChange={({ currentTarget }) =>
          setPhase(PHASES.find((known) => known.phase === currentTarget.value)?.phase ?? phase)
        }
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

/** Let a market enter a phase, as an operator of the exchange: halt it, hold an auction, go on trading. */
export function MarketPhaseDialog({ market, onClose }: { market: MarketListing; onClose: () => void }) {
  const { symbol } = market;
  const [seen, setSeen] = useState(market);
  const change = usePhaseChange(symbol, ({ phase }) => {
    onClose();
    toastDone(`${symbol}: ${phaseTitle(phase)}`);
  });
  const present = usePresentMarket(symbol, change.error);
  if (present && present.phase !== seen.phase) setSeen(present);
  return (
    <PhaseDialog
      symbol={symbol}
      before={seen.phase}
      cause={seen.phaseCause}
      operator={useActingName()}
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(wanted) => change.mutate({ ...wanted, expected: seen.phase })}
      onClose={onClose}
    />
  );
}

/** The same with a session of the engine, which the engine takes also while the REST edge is away. */
export function SymbolPhaseDialog({ symbol: spec, onClose }: { symbol: SymbolSpec; onClose: () => void }) {
  const engine = useEngine();
  const refresh = useRefresh();
  const { symbol, phase: before = "continuous", phaseCause = "" } = spec;
  const change = useMutation({
    mutationFn: ({ phase, seconds, reason }: Wanted) => engine.setPhase(symbol, phase, seconds, reason),
    onSuccess: async (_, { phase }) => {
      onClose();
      toastDone(`${symbol}: ${phaseTitle(phase)}`);
      await refresh("symbols");
    },
  });
  return (
    <PhaseDialog
      symbol={symbol}
      before={before}
      cause={phaseCause}
      operator={useOperator()}
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={change.mutate}
      onClose={onClose}
    />
  );
}
