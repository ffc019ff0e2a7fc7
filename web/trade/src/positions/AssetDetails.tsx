import { Title } from "@mantine/core";
import { Amount } from "#lib/components/Amount.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { t } from "#lib/language.ts";
import { explainIfAny } from "../api/messages.ts";
import { type Disposal, type Lot, type Owner, useLots } from "./queries.ts";
import { Result } from "./Result.tsx";

const LOTS: Column<Lot>[] = [
  {
    id: "time",
    get title() {
      return t("Acquired");
    },
    cell: ({ acquiredAt }) => <TimeText milliseconds={Date.parse(acquiredAt)} />,
  },
  {
    id: "account",
    get title() {
      return t("Account");
    },
    cell: ({ account }) => account,
  },
  {
    id: "quantity",
    get title() {
      return t("Quantity");
    },
    align: "right",
    cell: ({ quantity }) => <Amount value={quantity} />,
  },
  {
    id: "cost",
    get title() {
      return t("Cost");
    },
    align: "right",
    cell: ({ cost }) => <Amount value={cost} places={2} />,
  },
  {
    id: "id",
    get title() {
      return t("Transaction");
    },
    cell: ({ acquisitionId }) => acquisitionId,
  },
];

function disposalsOf(currency: string): Column<Disposal>[] {
  return [
    {
      id: "time",
      title: t("Disposed"),
      cell: ({ disposedAt }) => <TimeText milliseconds={Date.parse(disposedAt)} />,
    },
    { id: "reason", title: t("What"), cell: ({ reason }) => (reason === "sale" ? t("Sale") : t("Fee")) },
    {
      id: "quantity",
      title: t("Quantity"),
      align: "right",
      cell: ({ quantity }) => <Amount value={quantity} />,
    },
    {
      id: "proceeds",
      title: t("Proceeds"),
      align: "right",
      cell: ({ proceeds }) => <Amount value={proceeds} places={2} />,
    },
    { id: "cost", title: t("Cost"), align: "right", cell: ({ cost }) => <Amount value={cost} places={2} /> },
    {
      id: "gain",
      title: t("Gain"),
      align: "right",
      cell: ({ gain }) => <Result value={gain} unit={currency} />,
    },
    { id: "id", title: t("Transaction"), cell: ({ disposalId }) => disposalId },
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
      title={t("Open lots of {asset}", { asset })}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <DataTable
        label={t("Lots of {asset}", { asset })}
        columns={LOTS}
        rows={query.data?.lots}
        rowId={({ account, acquisitionId }) => `${account} ${acquisitionId}`}
        rowName={({ acquisitionId }) => acquisitionId}
        state={query}
        problem={problem}
        empty={
          <EmptyState title={t("No open lots")}>
            {t("All of it was sold or moved, or nobody has recorded how it came.")}
          </EmptyState>
        }
      />
      {query.data && query.data.disposals.length > 0 && (
        <DataTable
          label={t("Sales of {asset}", { asset })}
          toolbar={<Title order={3}>{t("Newest sales, lot by lot")}</Title>}
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
