import { Title } from "@mantine/core";
import { Amount } from "#lib/components/Amount.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { explainIfAny } from "../api/messages.ts";
import { type Disposal, type Lot, type Owner, useLots } from "./queries.ts";
import { Result } from "./Result.tsx";

const LOTS: Column<Lot>[] = [
  {
    id: "time",
    title: "Acquired",
    cell: ({ acquiredAt }) => <TimeText milliseconds={Date.parse(acquiredAt)} />,
  },
  { id: "account", title: "Account", cell: ({ account }) => account },
  { id: "quantity", title: "Quantity", align: "right", cell: ({ quantity }) => <Amount value={quantity} /> },
  { id: "cost", title: "Cost", align: "right", cell: ({ cost }) => <Amount value={cost} places={2} /> },
  { id: "id", title: "Transaction", cell: ({ acquisitionId }) => acquisitionId },
];

function disposalsOf(currency: string): Column<Disposal>[] {
  return [
    {
      id: "time",
      title: "Disposed",
      cell: ({ disposedAt }) => <TimeText milliseconds={Date.parse(disposedAt)} />,
    },
    { id: "reason", title: "What", cell: ({ reason }) => (reason === "sale" ? "Sale" : "Fee") },
    {
      id: "quantity",
      title: "Quantity",
      align: "right",
      cell: ({ quantity }) => <Amount value={quantity} />,
    },
    {
      id: "proceeds",
      title: "Proceeds",
      align: "right",
      cell: ({ proceeds }) => <Amount value={proceeds} places={2} />,
    },
    { id: "cost", title: "Cost", align: "right", cell: ({ cost }) => <Amount value={cost} places={2} /> },
    {
      id: "gain",
      title: "Gain",
      align: "right",
      cell: ({ gain }) => <Result value={gain} unit={currency} />,
    },
    { id: "id", title: "Transaction", cell: ({ disposalId }) => disposalId },
  ];
}

/** What of an asset is held, lot by lot, and what was sold last, each from the lot that it came from. */
export function AssetDetails({
  owner,
  asset,
  onClose,
}: {
  owner: Owner;
  asset: string;
  onClose: () => void;
}) {
  const query = useLots(owner, asset);
  const problem = explainIfAny(query.error);
  return (
    <Dialog
      size="xl"
      onClose={onClose}
      title={`Open lots of ${asset}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <DataTable
        label={`Lots of ${asset}`}
        columns={LOTS}
        rows={query.data?.lots}
        rowId={({ account, acquisitionId }) => `${account} ${acquisitionId}`}
        rowName={({ acquisitionId }) => acquisitionId}
        state={query}
        problem={problem}
        empty={
          <EmptyState title="No open lots">
            All of it was sold or moved, or nobody has recorded how it came.
          </EmptyState>
        }
      />
      {query.data && query.data.disposals.length > 0 && (
        <DataTable
          label={`Sales of ${asset}`}
          toolbar={<Title order={3}>Newest sales, lot by lot</Title>}
          columns={disposalsOf(query.data.currency)}
          rows={query.data.disposals}
          rowId={({ disposalId, reason, account, acquisitionId }) =>
            `${disposalId} ${reason} ${account} ${acquisitionId}`
          }
          rowName={({ disposalId }) => disposalId}
          state={query}
          problem={problem}
          empty={null}
        />
      )}
    </Dialog>
  );
}
