import { SegmentedControl, Select, SimpleGrid, TextInput } from "@mantine/core";
import { useState } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { returned } from "../operator/client.ts";
import { type HouseFlow, type HouseRow, referenceFault } from "../people/treasury.ts";
import { amountFault } from "./adjustment.ts";
import { FLOW_CATEGORIES } from "./flowCategories.ts";
import { ReasonDialog } from "./ReasonDialog.tsx";

const OUTCOMES: Record<HouseFlow["status"], string> = {
  waiting: "Another person has to approve it",
  rejected: "The request was rejected",
  pending: "The engine has not answered; it is tried again",
  done: "The money is recorded",
  refused: "The engine refused it, and nothing moved",
};

/** Record money of the house that came from outside, or that goes there, in the engine and the ledger. */
export function FlowDialog({ row, onClose }: { row: HouseRow; onClose: () => void }) {
  const { account } = row.account;
  const [isIn, setIn] = useState(true);
  const [asset, setAsset] = useState(row.balance?.asset ?? "");
  const [amount, setAmount] = useState("");
  const [category, setCategory] = useState<HouseFlow["category"] | null>(null);
  const [reference, setReference] = useState("");
  const fault = amountFault(amount.trim());
  const signed = isIn ? amount.trim() : `-${amount.trim()}`;
  const unsound = referenceFault(reference);
  return (
    <ReasonDialog<HouseFlow>
      title="Record money from or to outside?"
      missing={[
        asset === "" && "name an asset",
        fault !== "" && "enter an amount",
        category === null && "choose a category",
        unsound !== "" && "enter the external reference",
      ]}
      typed={account}
      confirm={isIn ? "Record what came in" : "Record what goes out"}
      danger={!isIn}
      act={({ rest }, reason, key) =>
        returned(
          rest.POST("/api/v1/operator/treasury/flows", {
            params: { header: { "Idempotency-Key": key } },
            body: { account, asset, amount: signed, category: category ?? "correction", reference, reason },
          }),
        )
      }
      done={({ status, resultCode }) => [
        OUTCOMES[status],
        `${account}: ${formatDecimal(signed)} ${asset}${resultCode === null ? "" : ` (${resultCode})`}`,
      ]}
      onClose={onClose}
    >
      <p>
        {isIn
          ? `The amount is credited to ${account} in the engine and the ledger: it must have arrived outside.`
          : `The amount leaves ${account} in the engine and the ledger, if it is available there. Nothing is sent: send it outside yourself.`}{" "}
        The reference counts once. Beyond what you may adjust alone within 24 hours, another person has to
        approve.
      </p>
      <SegmentedControl
        aria-label="Direction"
        data={[
          { value: "in", label: "Came from outside" },
          { value: "out", label: "Goes to outside" },
        ]}
        value={isIn ? "in" : "out"}
        onChange={(value) => setIn(value === "in")}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
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
        <Select
          label="Category"
          placeholder="Choose"
          data={[...FLOW_CATEGORIES]}
          value={category}
          onChange={(value) =>
            setCategory(FLOW_CATEGORIES.find((each) => each.value === value)?.value ?? null)
          }
        />
        <TextInput
          label="External reference"
          description="The bank's number, or the transaction on the chain"
          value={reference}
          error={reference !== "" && unsound}
          spellCheck={false}
          onChange={(event) => setReference(event.currentTarget.value.trim())}
        />
      </SimpleGrid>
    </ReasonDialog>
  );
}
