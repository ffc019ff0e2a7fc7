import { Select, SimpleGrid, TextInput } from "@mantine/core";
import { useState } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { returned } from "../operator/client.ts";
import type { HouseAccount, HouseRow, HouseTransfer } from "../people/treasury.ts";
import { amountFault } from "./adjustment.ts";
import { ReasonDialog } from "./ReasonDialog.tsx";

const OUTCOMES: Record<HouseTransfer["status"], string> = {
  waiting: "Another person has to approve it",
  rejected: "The request was rejected",
  pending: "The engine has not answered; it is tried again",
  done: "The money has moved",
  refused: "The engine refused it, and nothing moved",
};

interface MoveProps {
  row: HouseRow;
  accounts: readonly HouseAccount[];
  onClose: () => void;
}

/** Move money from one account of the house to another: one transfer in the engine and the ledger. */
export function MoveDialog({ row, accounts, onClose }: MoveProps) {
  const source = row.account.account;
  const [destination, setDestination] = useState<string | null>(null);
  const [asset, setAsset] = useState(row.balance?.asset ?? "");
  const [amount, setAmount] = useState("");
  const fault = amountFault(amount.trim());
  const targets = accounts.filter(
    ({ account, closedBecause }) => closedBecause === null && account !== source,
  );
  return (
    <ReasonDialog<HouseTransfer>
      title="Move money of the house?"
      missing={[
        destination === null && "choose where it goes",
        asset === "" && "name an asset",
        fault !== "" && "enter an amount",
      ]}
      typed={source}
      confirm="Move"
      act={({ rest }, reason, key) =>
        returned(
          rest.POST("/api/v1/operator/treasury/transfers", {
            params: { header: { "Idempotency-Key": key } },
            body: { from: source, to: destination ?? "", asset, amount: amount.trim(), reason },
          }),
        )
      }
      done={({ status, resultCode }) => [
        OUTCOMES[status],
        `${source} to ${destination ?? ""}: ${formatDecimal(amount.trim())} ${asset}${resultCode === null ? "" : ` (${resultCode})`}`,
      ]}
      onClose={onClose}
    >
      <p>
        The amount moves from {source} in the engine and the ledger alike, if it is available there. Beyond
        what you may move alone within 24 hours, another person has to approve.
      </p>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <Select
          label="To"
          placeholder="Choose"
          data={targets.map(({ account, purpose }) => ({ value: account, label: `${account} (${purpose})` }))}
          value={destination}
          onChange={setDestination}
        />
        <TextInput
          label="Asset"
          value={asset}
          maxLength={16}
          spellCheck={false}
          onChange={(event) => setAsset(event.currentTarget.value.trim().toUpperCase())}
        />
        <DecimalField
          label="Amount"
          value={amount}
          error={amount.trim() !== "" && fault}
          rightSection={asset}
          rightSectionWidth={asset === "" ? 12 : 64}
          onValue={setAmount}
        />
      </SimpleGrid>
    </ReasonDialog>
  );
}

/** Set the level below which an account raises an alert, or remove it. */
export function LevelDialog({ row, onClose }: { row: HouseRow; onClose: () => void }) {
  const { account } = row.account;
  const [asset, setAsset] = useState(row.balance?.asset ?? "");
  const [level, setLevel] = useState(row.balance?.level ?? "");
  const isNone = level.trim() === "";
  const fault = isNone ? "" : amountFault(level.trim());
  return (
    <ReasonDialog
      title="Set the level?"
      missing={[asset === "" && "name an asset", fault !== "" && "enter a level, or none"]}
      confirm={isNone ? "Remove the level" : "Set the level"}
      danger={isNone}
      act={({ rest }, reason) =>
        returned(
          rest.PUT("/api/v1/operator/treasury/levels", {
            body: { account, asset, level: isNone ? null : level.trim(), reason },
          }),
        )
      }
      done={(set) => [
        set.level === null ? "The level is removed" : "The level is set",
        `${set.account}: ${set.level === null ? "none" : formatDecimal(set.level)} ${set.asset}`,
      ]}
      onClose={onClose}
    >
      <p>
        If {account} has less available than this, an alert is raised. Nothing is refused because of it. An
        empty level is none.
      </p>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label="Asset"
          value={asset}
          maxLength={16}
          spellCheck={false}
          onChange={(event) => setAsset(event.currentTarget.value.trim().toUpperCase())}
        />
        <DecimalField label="Level" value={level} error={fault} rightSection={asset} onValue={setLevel} />
      </SimpleGrid>
    </ReasonDialog>
  );
}
