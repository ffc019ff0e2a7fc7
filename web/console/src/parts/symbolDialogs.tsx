import { Anchor, SimpleGrid, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { plural } from "#lib/counts.ts";
import { useEngine } from "../engine/engine.ts";
import { checkFees, parseBasisPoints, type SymbolSpec } from "../engine/markets.ts";
import { useOpenOrderCount, useRefresh } from "../engine/queries.ts";
import { useOperator } from "../engine/session.ts";
import { explainIfAny } from "../engine/messages.ts";
import { ActiveState } from "./badges.tsx";

interface SymbolDialogProps {
  symbol: SymbolSpec;
  onClose: () => void;
}

/** Let a symbol take new orders, or no longer. */
export function SymbolStateDialog({ symbol: { symbol, active }, onClose }: SymbolDialogProps) {
  const engine = useEngine();
  const refresh = useRefresh();
  const change = useMutation({
    mutationFn: (reason: string) => engine.changeSymbol(symbol, { active: !active }, reason),
    onSuccess: async () => {
      onClose();
      toastDone(`${symbol} is ${active ? "inactive" : "active again"}`);
      await refresh("symbols");
    },
  });
  return (
    <ConfirmDialog
      title={active ? `Deactivate ${symbol}?` : `Activate ${symbol}?`}
      operator={useOperator()}
      comparisons={[
        { name: "State", before: <ActiveState active={active} />, after: <ActiveState active={!active} /> },
      ]}
      asksReason
      typed={active ? symbol : ""}
      confirm={active ? "Deactivate" : "Activate"}
      danger={active}
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(reason) => change.mutate(reason)}
      onClose={onClose}
    >
      {active ? (
        <>
          <p>Its new orders are refused from now on.</p>
          <OpenOrders symbol={symbol} />
        </>
      ) : (
        <p>It takes orders again.</p>
      )}
    </ConfirmDialog>
  );
}

/** Delete a symbol; the engine refuses that while it has open orders. */
export function DeleteSymbolDialog({ symbol: { symbol, active }, onClose }: SymbolDialogProps) {
  const engine = useEngine();
  const refresh = useRefresh();
  const removal = useMutation({
    mutationFn: (reason: string) => engine.deleteSymbol(symbol, reason),
    onSuccess: async () => {
      onClose();
      toastDone(`${symbol} is deleted`);
      await refresh("symbols", "stats");
    },
  });
  return (
    <ConfirmDialog
      title={`Delete ${symbol}?`}
      operator={useOperator()}
      comparisons={[{ name: symbol, before: <ActiveState active={active} />, after: "Deleted" }]}
      typed={symbol}
      asksReason
      confirm="Delete the symbol"
      danger
      isBusy={removal.isPending}
      problem={explainIfAny(removal.error)}
      onConfirm={(reason) => removal.mutate(reason)}
      onClose={onClose}
    >
      <p>
        Its trades stay in the records. Deleting cannot be undone; a new symbol of this name has another
        number.
      </p>
      <OpenOrders symbol={symbol} />
    </ConfirmDialog>
  );
}

function OpenOrders({ symbol }: { symbol: string }) {
  const { data: count } = useOpenOrderCount({ symbol });
  if (count === undefined || count === 0) return null;
  return (
    <WarningNote>
      {plural(count, "open order")} {count === 1 ? "is" : "are"} in its book; while that is so, it cannot be
      deleted.{" "}
      <Anchor component={Link} href={`/orders?symbol=${symbol}&status=OPEN`} inherit underline="always">
        Show the open orders
      </Anchor>{" "}
      to cancel them.
    </WarningNote>
  );
}

/** Change what a symbol charges. */
export function SymbolFeesDialog({ symbol: spec, onClose }: SymbolDialogProps) {
  const engine = useEngine();
  const refresh = useRefresh();
  const [taker, setTaker] = useState(String(spec.takerFee));
  const [maker, setMaker] = useState(String(spec.makerFee));
  const faults = checkFees(taker.trim(), maker.trim());
  const takerFee = parseBasisPoints(taker.trim());
  const makerFee = parseBasisPoints(maker.trim());
  const isSound = faults.taker === "" && faults.maker === "" && takerFee !== null && makerFee !== null;
  const isSame = takerFee === spec.takerFee && makerFee === spec.makerFee;
  const change = useMutation({
    mutationFn: ({ reason, ...fees }: { takerFee: number; makerFee: number; reason: string }) =>
      engine.changeSymbol(spec.symbol, fees, reason),
    onSuccess: async () => {
      onClose();
      toastDone(`The fees of ${spec.symbol} are changed`);
      await refresh("symbols");
    },
  });
  return (
    <ConfirmDialog
      title={`Change the fees of ${spec.symbol}`}
      operator={useOperator()}
      missing={[!isSound && "correct the fees", isSame && "change a fee"]}
      comparisons={
        isSound
          ? [
              { name: "Taker fee", before: `${spec.takerFee} bps`, after: `${takerFee} bps` },
              { name: "Maker fee", before: `${spec.makerFee} bps`, after: `${makerFee} bps` },
            ]
          : []
      }
      asksReason
      confirm="Change the fees"
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(reason) => isSound && change.mutate({ takerFee, makerFee, reason })}
      onClose={onClose}
    >
      <p>In basis points: 20 is 0.20 %. They hold for orders that arrive from now on.</p>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label="Taker fee"
          inputMode="numeric"
          value={taker}
          error={faults.taker}
          data-autofocus
          onChange={(event) => setTaker(event.currentTarget.value)}
        />
        <TextInput
          label="Maker fee"
          value={maker}
          error={faults.maker}
          onChange={(event) => setMaker(event.currentTarget.value)}
        />
      </SimpleGrid>
    </ConfirmDialog>
  );
}
