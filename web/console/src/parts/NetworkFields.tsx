import { NativeSelect, SimpleGrid, Switch, TextInput } from "@mantine/core";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { ADDRESS_FORMS, type NetworkDraft } from "../operator/networks.ts";

interface Props {
  asset: string;
  draft: NetworkDraft;
  /** Whether the coin has the network already: then its name and the form of its addresses stay. */
  isKnown?: boolean;
  onChange: (change: Partial<NetworkDraft>) => void;
}

type Amount = "withdrawalFee" | "withdrawalMinimum" | "depositMinimum";

/** The fields of a coin's network. */
export function NetworkFields({ asset, draft, isKnown = false, onChange }: Props) {
  const amount = (field: Amount, label: string, description: string) => (
    <DecimalField
      label={label}
      description={description}
      withAsterisk
      value={draft[field]}
      onValue={(value) => onChange({ [field]: value.trim() })}
    />
  );
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
      {!isKnown && (
        <>
          <TextInput
            label="Network"
            description="For example dogecoin, or one that the platform has."
            withAsterisk
            maxLength={32}
            value={draft.network}
            onChange={({ currentTarget }) => onChange({ network: currentTarget.value.trim() })}
          />
          <NativeSelect
            label="Address form"
            description="Of a network that is new here. It cannot be changed later."
            data={[
              { value: "", label: "As the network has it" },
              ...ADDRESS_FORMS.map((form) => ({ value: form, label: form })),
            ]}
            value={draft.addressForm}
            onChange={({ currentTarget }) =>
              onChange({ addressForm: ADDRESS_FORMS.find((form) => form === currentTarget.value) ?? "" })
            }
          />
        </>
      )}
      <TextInput
        label="Confirmations"
        description="Blocks until a transfer counts, of all coins of the network. Empty: as it has them."
        inputMode="numeric"
        value={draft.confirmations}
        onChange={({ currentTarget }) => onChange({ confirmations: currentTarget.value.trim() })}
      />
      {amount("depositMinimum", "Least deposit", `In ${asset}.`)}
      {amount("withdrawalFee", "Withdrawal fee", `In ${asset}.`)}
      {amount("withdrawalMinimum", "Least withdrawal", `In ${asset}, fee included.`)}
      {draft.addressForm === "stellar" && (
        <Switch
          label="An address takes a tag"
          checked={draft.takesTag}
          onChange={({ currentTarget }) => onChange({ takesTag: currentTarget.checked })}
        />
      )}
    </SimpleGrid>
  );
}
