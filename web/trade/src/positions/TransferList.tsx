import { Button, Select, Stack, TextInput } from "@mantine/core";
import { PlusIcon } from "@primer/octicons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Badge } from "#lib/components/Badge.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState, ProblemNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { toastDone, toastProblem } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { readScaled } from "#lib/scaled.ts";
import { attemptKey, returned } from "../api/client.ts";
import { useMarkets } from "../api/queries.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { type Owner, readAgain, type Transfer, useTransfers } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const KINDS: Readonly<Record<Transfer["kind"], string>> = {
  get deposit() {
    return t("Deposit");
  },
  get withdrawal() {
    return t("Withdrawal");
  },
  get adjustment() {
    return t("Adjustment");
  },
};

const COLUMNS: Column<Transfer>[] = [
  {
    id: "time",
    get title() {
      return t("Time");
    },
    cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
  },
  {
    id: "kind",
    get title() {
      return t("What");
    },
    cell: ({ kind }) => KINDS[kind],
  },
  {
    id: "amount",
    get title() {
      return t("Amount");
    },
    align: "right",
    cell: ({ amount, assetId }) => <AssetAmount value={amount} asset={assetId} />,
  },
  {
    id: "reference",
    get title() {
      return t("Reference");
    },
    cell: ({ reference, reason }) => reference ?? reason ?? "–",
  },
  {
    id: "state",
    get title() {
      return t("State");
    },
    cell: (transfer) => <State transfer={transfer} />,
  },
];

/** Movements into and out of the positions' balances, and the way to record one. */
export function TransferList({ owner }: { owner: Owner }) {
  const query = useTransfers(owner);
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const cancel = useMutation({
    mutationFn: ({ id }: Transfer) =>
      returned(owner.positions.POST("/api/pms/transfers/{id}/cancel", { params: { path: { id } } })),
    onSuccess: () => toastDone(t("Transfer cancelled")),
    onError: (error) => toastProblem(explain(error)),
    onSettled: () => readAgain(client),
  });
  const record = (
    <Button size="xs" variant="default" leftSection={<PlusIcon />} onClick={() => setOpen(true)}>
      {t("Record a transfer")}
    </Button>
  );
  return (
    <>
      <DataTable
        label={t("Transfers")}
        toolbar={record}
        columns={COLUMNS}
        rows={query.data?.pages.flatMap(({ rows }) => rows)}
        rowId={({ id }) => id}
        rowName={({ kind, amount, assetId }) =>
          t("{kinds} of {amount} {assetId}", { kinds: KINDS[kind], amount: formatDecimal(amount), assetId })
        }
        actions={(transfer) => [
          {
            label: t("Cancel"),
            danger: true,
            onClick: () => cancel.mutate(transfer),
            disabledReason: transfer.status === "pending" ? undefined : t("It has ended already"),
          },
          { label: t("Copy id"), onClick: () => copyAndTell(transfer.id) },
        ]}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={t("No transfers yet")}>
            {t(
              "What you bring to these positions from elsewhere, or take away, is recorded here. The operator completes each.",
            )}
          </EmptyState>
        }
        footer={<ShowOlder query={query} />}
      />
      {isOpen && <TransferDialog owner={owner} onClose={() => setOpen(false)} />}
    </>
  );
}

function State({ transfer: { status } }: { transfer: Transfer }) {
  if (status === "pending") {
    return (
      <Badge tone="warning" shape="◐">
        {t("Waits for the operator")}
      </Badge>
    );
  }
  return status === "completed" ? (
    <Badge tone="positive" shape="●">
      {t("Completed")}
    </Badge>
  ) : (
    <Badge tone="neutral" shape="○">
      {t("Cancelled")}
    </Badge>
  );
}

function TransferDialog({ owner, onClose }: { owner: Owner; onClose: () => void }) {
  const client = useQueryClient();
  const { data: markets = [] } = useMarkets();
  const assets = [...new Set(markets.flatMap(({ baseAsset, quoteAsset }) => [baseAsset, quoteAsset]))].sort();
  const [key, setKey] = useState(attemptKey);
  const [kind, setKind] = useState("deposit");
  const [asset, setAsset] = useState<string | null>(null);
  const [amount, setAmount] = useState("");
  const [reference, setReference] = useState("");
  const changed = (change: () => void) => {
    change();
    // Another transfer than the one that was tried.
    setKey(attemptKey());
  };
  const send = useMutation({
    mutationFn: () => {
      const options = {
        params: { header: { "Idempotency-Key": key } },
        body: {
          assetId: asset ?? "",
          amount: amount.trim(),
          ...(reference.trim() ? { reference: reference.trim() } : {}),
        },
      };
      return returned(
        kind === "deposit"
          ? owner.positions.POST("/api/pms/transfers/deposit", options)
          : owner.positions.POST("/api/pms/transfers/withdrawal", options),
      );
    },
    onSuccess: () => {
      readAgain(client);
      toastDone(t("Transfer recorded"), t("It counts as soon as the operator completes it."));
      onClose();
    },
  });
  const blocked = blockedBy(asset, amount.trim());
  return (
    <Dialog onClose={onClose} title={t("Record a transfer")} closeButtonProps={{ "aria-label": t("Close") }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked === null && !send.isPending) send.mutate();
        }}
      >
        <Stack gap="md">
          <Select
            label={t("What")}
            allowDeselect={false}
            data={[
              { value: "deposit", label: KINDS.deposit },
              { value: "withdrawal", label: KINDS.withdrawal },
            ]}
            value={kind}
            onChange={(value) => changed(() => value !== null && setKind(value))}
          />
          <Select
            label={t("Asset")}
            searchable
            placeholder={t("Choose an asset")}
            data={assets}
            value={asset}
            onChange={(value) => changed(() => setAsset(value))}
          />
          <DecimalField
            label={t("Amount")}
            value={amount}
            onValue={(value) => changed(() => setAmount(value))}
          />
          <TextInput
            label={t("Reference")}
            description={t("Optional. The same reference again is the same transfer.")}
            maxLength={200}
            value={reference}
            onChange={({ currentTarget: { value } }) => changed(() => setReference(value))}
          />
          {send.error && <ProblemNote problem={explain(send.error)} />}
          <Button
            type="submit"
            loading={send.isPending}
            disabled={blocked !== null}
            aria-describedby="transfer-hint"
          >
            {t("Record it")}
          </Button>
          <p id="transfer-hint" hidden={blocked === null}>
            {blocked}
          </p>
        </Stack>
      </form>
    </Dialog>
  );
}

function blockedBy(asset: string | null, amount: string): string | null {
  if (asset === null) return t("Choose an asset.");
  if (amount === "") return t("Enter an amount.");
  const scaled = readScaled(amount);
  return scaled === null || scaled <= 0n ? t("The amount is a number above zero, such as 0.5.") : null;
}
