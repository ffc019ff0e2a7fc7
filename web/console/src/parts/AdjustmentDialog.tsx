import { SegmentedControl, Select, SimpleGrid, TextInput } from "@mantine/core";
import { useState } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { returned } from "../operator/client.ts";
import { type Adjustment, useUserBalances } from "../people/queries.ts";
import { amountFault } from "./adjustment.ts";
import { ReasonDialog } from "./ReasonDialog.tsx";

const CATEGORIES: readonly { value: Adjustment["category"]; label: string }[] = [
  { value: "correction", label: "Correction of a posting" },
  { value: "goodwill", label: "Goodwill" },
  { value: "refund", label: "Refund" },
  { value: "chargeback", label: "Chargeback of a payment" },
  { value: "promotion", label: "Promotion" },
];

const OUTCOMES: Record<Adjustment["status"], string> = {
  waiting: "Another person has to approve it",
  rejected: "The request was rejected",
  pending: "The engine has not answered; it is tried again",
  done: "The balance is adjusted",
  refused: "The engine refused it, and nothing moved",
};

/** Give a user money or take it: one transfer in the engine and the ledger, in the name of `house:adjustments`. */
export function AdjustmentDialog({ userId, onClose }: { userId: string; onClose: () => void }) {
  const balances = useUserBalances(userId);
  const [asset, setAsset] = useState("");
  const [amount, setAmount] = useState("");
  const [isGiven, setGiven] = useState(true);
  const [category, setCategory] = useState<Adjustment["category"] | null>(null);
  const fault = amountFault(amount.trim());
  const signed = isGiven ? amount.trim() : `-${amount.trim()}`;
  return (
    <ReasonDialog<Adjustment>
      title="Adjust the balance?"
      missing={[
        asset === "" && "name an asset",
        fault !== "" && "enter an amount",
        category === null && "choose a category",
      ]}
      typed={userId}
      confirm={isGiven ? "Give to the user" : "Take from the user"}
      danger={!isGiven}
      act={({ rest }, reason, key) =>
        returned(
          rest.POST("/api/v1/operator/users/{userId}/adjustments", {
            params: { path: { userId }, header: { "Idempotency-Key": key } },
            body: { asset, amount: signed, category: category ?? "correction", reason },
          }),
        )
      }
      done={({ status, resultCode }) => [
        OUTCOMES[status],
        `${userId}: ${formatDecimal(signed)} ${asset}${resultCode === null ? "" : ` (${resultCode})`}`,
      ]}
      onClose={onClose}
    >
      <p>
        The amount moves between house:adjustments and the user, in the engine and the ledger alike. Beyond
        what you may adjust alone within 24 hours, another person has to approve.
      </p>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label="Asset"
          description={balances.data?.map((row) => row.asset).join(", ")}
          value={asset}
          maxLength={16}
          spellCheck={false}
          data-autofocus
          onChange={(event) => setAsset(event.currentTarget.value.trim().toUpperCase())}
        />
        <Select
          label="Category"
          placeholder="Choose"
          data={[...CATEGORIES]}
          value={category}
          onChange={(value) => setCategory(CATEGORIES.find((each) => each.value === value)?.value ?? null)}
        />
        <SegmentedControl
          aria-label="Direction"
          data={[
            { value: "give", label: "Give" },
            { value: "take", label: "Take" },
          ]}
          value={isGiven ? "give" : "take"}
          onChange={(value) => setGiven(value === "give")}
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
