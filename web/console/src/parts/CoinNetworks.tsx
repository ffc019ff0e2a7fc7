import { Button } from "@mantine/core";
import { PencilIcon, PlayIcon, PlusIcon, StopIcon, XCircleIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { formatCount } from "#lib/counts.ts";
import { explainIfAny } from "../engine/messages.ts";
import {
  type CoinNetwork,
  draftOf,
  EMPTY_NETWORK,
  networkFaults,
  putNetwork,
  removeNetwork,
  useCoinNetworks,
} from "../operator/networks.ts";
import { type Direction, type Pause, pauseOf, usePauses } from "../operator/pauses.ts";
import { useCan } from "../operator/session.ts";
import { NetworkFields } from "./NetworkFields.tsx";
import { PauseDialog, ResumeDialog } from "./PauseDialogs.tsx";
import { ReasonDialog } from "./ReasonDialog.tsx";

const COLUMNS: readonly Column<CoinNetwork>[] = [
  { id: "network", title: "Network", cell: ({ network }) => <strong>{network}</strong> },
  {
    id: "form",
    title: "Addresses",
    cell: ({ addressForm, takesTag }) => (takesTag ? `${addressForm}, with a tag` : addressForm),
  },
  {
    id: "confirmations",
    title: "Confirmations",
    align: "right",
    cell: ({ confirmations }) => formatCount(confirmations),
  },
  {
    id: "deposit",
    title: "Least deposit",
    align: "right",
    cell: (row) => <Amount value={row.depositMinimum} unit={row.asset} />,
  },
  {
    id: "fee",
    title: "Withdrawal fee",
    align: "right",
    cell: (row) => <Amount value={row.withdrawalFee} unit={row.asset} />,
  },
  {
    id: "minimum",
    title: "Least withdrawal",
    align: "right",
    cell: (row) => <Amount value={row.withdrawalMinimum} unit={row.asset} />,
  },
];

type Asked =
  | { kind: "add" }
  | { kind: "change" | "remove"; network: CoinNetwork }
  | { kind: "pause"; network: string; direction: Direction }
  | { kind: "resume"; pause: Pause };

const DIRECTIONS: readonly Direction[] = ["deposits", "withdrawals"];

/** Whether deposits or withdrawals over a network are open, a column each. */
function pauseColumns(pauses: readonly Pause[]): Column<CoinNetwork>[] {
  return DIRECTIONS.map((direction) => ({
    id: direction,
    title: direction === "deposits" ? "Deposits" : "Withdrawals",
    cell: ({ asset, network }) => {
      const pause = pauseOf(pauses, asset, network, direction);
      return (
        <span title={pause && `${pause.pausedBy}: ${pause.reason}`}>
          <Badge tone={pause ? "warning" : "positive"} shape={pause ? "◐" : "●"}>
            {pause ? "Paused" : "Open"}
          </Badge>
        </span>
      );
    },
  }));
}

/** Over which networks a coin comes and goes, at what terms, and what an operator changes of that. */
export function CoinNetworks({ asset }: { asset: string }) {
  const query = useCoinNetworks(asset);
  const pauses = usePauses().data ?? [];
  const can = useCan();
  const [asked, setAsked] = useState<Asked | null>(null);
  const mayChange = can("currencies.update");
  const close = () => setAsked(null);
  return (
    <Card flush>
      <DataTable
        label={`Networks of ${asset}`}
        isWhole
        toolbar={
          <Button
            variant="default"
            leftSection={<PlusIcon />}
            disabled={!mayChange}
            title={mayChange ? undefined : "This needs the permission currencies.update."}
            onClick={() => setAsked({ kind: "add" })}
          >
            Add a network
          </Button>
        }
        columns={[...COLUMNS, ...pauseColumns(pauses)]}
        rows={query.data}
        rowId={(row) => row.network}
        rowName={(row) => row.network}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title="No network">
            Nobody can deposit or withdraw {asset} before it has one.
          </EmptyState>
        }
        actions={(network) => [
          ...(mayChange
            ? DIRECTIONS.map((direction) => {
                const pause = pauseOf(pauses, asset, network.network, direction);
                return {
                  label: `${pause ? "Resume" : "Pause"} ${direction}…`,
                  icon: pause ? <PlayIcon /> : <StopIcon />,
                  danger: pause === undefined,
                  onClick: () =>
                    setAsked(
                      pause
                        ? { kind: "resume", pause }
                        : { kind: "pause", network: network.network, direction },
                    ),
                };
              })
            : []),
          ...(mayChange && !["aba", "iban"].includes(network.addressForm)
            ? [
                {
                  label: "Change…",
                  icon: <PencilIcon />,
                  onClick: () => setAsked({ kind: "change", network }),
                },
                ...(network.listed
                  ? [
                      {
                        label: "Take away…",
                        icon: <XCircleIcon />,
                        danger: true,
                        onClick: () => setAsked({ kind: "remove", network }),
                      },
                    ]
                  : []),
              ]
            : []),
        ]}
      />
      {asked?.kind === "pause" && <PauseDialog asset={asset} {...asked} onClose={close} />}
      {asked?.kind === "resume" && <ResumeDialog pause={asked.pause} onClose={close} />}
      {asked?.kind === "remove" && (
        <ReasonDialog
          title={`Take ${asset} off ${asked.network.network}?`}
          confirm="Take it away"
          danger
          act={(edge, reason) => removeNetwork(edge, asset, asked.network.network, reason)}
          done={() => [`${asset} is off ${asked.network.network}`, "Every service knows it within a second."]}
          onClose={close}
        >
          <p>
            A network over which the coin has come or gone stays. Terms of the platform&apos;s own count
            again.
          </p>
        </ReasonDialog>
      )}
      {(asked?.kind === "add" || asked?.kind === "change") && (
        <NetworkDialog asset={asset} known={asked.kind === "change" ? asked.network : null} onClose={close} />
      )}
    </Card>
  );
}

function NetworkDialog(props: { asset: string; known: CoinNetwork | null; onClose: () => void }) {
  const { asset, known, onClose } = props;
  const [draft, setDraft] = useState(known === null ? EMPTY_NETWORK : draftOf(known));
  return (
    <ReasonDialog
      title={known === null ? `Add a network of ${asset}?` : `Change ${asset} on ${known.network}?`}
      confirm={known === null ? "Add the network" : "Change the terms"}
      missing={networkFaults(draft)}
      act={(edge, reason) => putNetwork(edge, asset, draft, reason)}
      done={({ network }) => [
        `${asset} comes and goes over ${network}`,
        "Every service knows it within a second.",
      ]}
      onClose={onClose}
    >
      <NetworkFields
        asset={asset}
        draft={draft}
        isKnown={known !== null}
        onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
      />
    </ReasonDialog>
  );
}
