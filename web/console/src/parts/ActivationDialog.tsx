import { Anchor } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "wouter";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { plural } from "#lib/counts.ts";
import { useEngine } from "../engine/engine.ts";
import { useOpenOrderCount, useRefresh } from "../engine/queries.ts";
import { useOperator } from "../engine/session.ts";
import { explainIfAny } from "../engine/messages.ts";
import { FreezeState } from "./badges.tsx";
import type { SeenParticipant } from "./seenParticipant.ts";

/** The engine's own account, which collects the fees; nobody logs in as it. */
export const FEE_ACCOUNT = "house:fees";

type Activatable = Pick<SeenParticipant, "participantId" | "state">;

/** Why a participant's state cannot be changed from here, or undefined. */
export function useActivationFault(): (participant: Activatable) => string | undefined {
  const operator = useOperator();
  return ({ participantId, state }) => {
    if (state === "active" && participantId === operator) return "You cannot deactivate yourself.";
    if (participantId === FEE_ACCOUNT) return "The fee account stays as it is.";
    return undefined;
  };
}

/** Activate or deactivate a participant. */
export function ActivationDialog({
  participant,
  onClose,
}: {
  participant: Activatable;
  onClose: () => void;
}) {
  const engine = useEngine();
  const refresh = useRefresh();
  const { participantId, state } = participant;
  const active = state === "active";
  const openOrders = useOpenOrderCount({ participantId });
  const count = openOrders.data;
  const change = useMutation({
    mutationFn: (reason: string) =>
      active ? engine.deactivate(participantId, reason) : engine.activate(participantId, reason),
    onSuccess: async () => {
      onClose();
      toastDone(`${participantId} is ${active ? "deactivated" : "active again"}`);
      await refresh("participants", "stats");
    },
  });
  return (
    <ConfirmDialog
      title={active ? `Deactivate ${participantId}?` : `Activate ${participantId}?`}
      operator={useOperator()}
      comparisons={[
        {
          name: "State",
          before: <FreezeState state={state} />,
          after: <FreezeState state={active ? "inactive" : "active"} />,
        },
      ]}
      asksReason
      typed={active ? participantId : ""}
      confirm={active ? "Deactivate" : "Activate"}
      danger={active}
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(reason) => change.mutate(reason)}
      onClose={onClose}
    >
      {active ? (
        <>
          <p>Its new orders are refused, and all of its sessions end at once.</p>
          {count !== 0 && (
            <WarningNote>
              {count === undefined
                ? "Open orders stay"
                : `${plural(count, "open order")} ${count === 1 ? "stays" : "stay"}`}{" "}
              in the book and can still trade.{" "}
              <Anchor
                component={Link}
                href={`/orders?participant=${encodeURIComponent(participantId)}&status=OPEN`}
                inherit
                underline="always"
              >
                Show the open orders
              </Anchor>{" "}
              to cancel them. A stop that its price reaches ends instead of trading, and the exits of a list
              are not placed.
            </WarningNote>
          )}
        </>
      ) : (
        <>
          <p>It can log in and place orders again.</p>
          {state === "frozen" && (
            <WarningNote>
              An operator of the exchange has frozen it. This ends the freeze; the trail says why it was
              frozen.
            </WarningNote>
          )}
        </>
      )}
    </ConfirmDialog>
  );
}
