import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { rich, t } from "#lib/language.ts";
import { useNow } from "#lib/useNow.ts";
import { returned, useExchange } from "../api/client.ts";
import { useSession } from "../api/session.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { PageLink } from "../parts/PageLink.tsx";
import { FundsNavigation } from "../parts/FundsNavigation.tsx";
import { useVerification } from "../account/queries.ts";
import { ADDRESSES, type SavedAddress, useSavedAddresses } from "../withdrawals/queries.ts";
import { WithdrawalForm } from "../withdrawals/WithdrawalForm.tsx";
import { WithdrawalList } from "../withdrawals/WithdrawalList.tsx";
import fields from "../parts/Fields.module.css";
import classes from "../withdrawals/Withdrawal.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const WAIT_LOOK_MS = 5_000;

/** Money out: the form, what is under way, what was, and where it may go. */
export default function WithdrawalsPage() {
  const first = new URLSearchParams(window.location.search).get("withdraw") ?? "";
  return (
    <div className={classes.page}>
      <div>
        <PageHeader title={t("Withdraw")}>
          {t("Coins to an address of yours, money to your bank.")}
        </PageHeader>
        <FundsNavigation />
      </div>
      <div className={classes.columns}>
        <WithdrawalForm first={first} />
        <div className={classes.stack}>
          <Limits />
          <Card flush title={t("Saved addresses")}>
            <Addresses />
          </Card>
        </div>
      </div>
      <WithdrawalList />
    </div>
  );
}

const LEVELS = {
  get none() {
    return t("Not verified");
  },
  get basic() {
    return t("Basic");
  },
  get verified() {
    return t("Verified");
  },
} as const;

function Limits() {
  const { data, error, refetch } = useVerification();
  return (
    <Card title={t("Your limit")}>
      {error && !data && <ErrorState problem={explain(error)} onRetry={() => void refetch()} />}
      {data && (
        <dl className={fields.facts}>
          <div>
            <dt>{t("In 24 hours")}</dt>
            <dd>
              <strong>
                <AssetAmount value={data.dailyWithdrawalLimit} asset="USD" />
              </strong>
            </dd>
          </div>
          <div>
            <dt>{t("Verification")}</dt>
            <dd>
              <Badge tone={data.level === "none" ? "warning" : "positive"} shape="●">
                {LEVELS[data.level]}
              </Badge>
            </dd>
          </div>
        </dl>
      )}
      {data && data.level !== "verified" && (
        <p className={classes.note}>
          {data.level === "none" && t("Withdrawals need your name, date of birth and address.") + " "}
          {rich("The limit rises with each level. {link}", {
            link: <PageLink href="/account/verification">{t("Reach the next level")}</PageLink>,
          })}
        </p>
      )}
    </Card>
  );
}

const COLUMNS: Column<SavedAddress>[] = [
  {
    id: "label",
    get title() {
      return t("Name");
    },
    cell: ({ label }) => <strong>{label}</strong>,
  },
  {
    id: "asset",
    get title() {
      return t("Asset");
    },
    cell: ({ asset, network }) => t("{asset} on {network}", { asset, network }),
  },
  {
    id: "address",
    get title() {
      return t("Address");
    },
    cell: ({ address }) => <span className={`figures ${classes.address ?? ""}`}>{address}</span>,
  },
  {
    id: "state",
    get title() {
      return t("Usable");
    },
    cell: ({ availableAt }) => <Usable from={Date.parse(availableAt)} />,
  },
];

function Usable({ from }: { from: number }) {
  const now = useNow(WAIT_LOOK_MS);
  if (from <= now) {
    return (
      <Badge tone="positive" shape="●">
        {t("Now")}
      </Badge>
    );
  }
  return <span>{rich("from {from}", { from: <TimeText milliseconds={from} /> })}</span>;
}

function Addresses() {
  const query = useSavedAddresses();
  const [removing, setRemoving] = useState<SavedAddress | null>(null);
  return (
    <>
      <DataTable
        label={t("Saved addresses")}
        columns={COLUMNS}
        rows={query.data}
        rowId={({ id }) => id}
        rowName={({ label }) => label}
        actions={(saved) => [
          { label: t("Copy address"), onClick: () => copyAndTell(saved.address) },
          { label: t("Delete it…"), danger: true, onClick: () => setRemoving(saved) },
        ]}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={t("No addresses yet")}>
            {t("Choose an asset, then “Add”: money goes to saved addresses alone.")}
          </EmptyState>
        }
      />
      {removing && <RemoveDialog saved={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

function RemoveDialog({ saved, onClose }: { saved: SavedAddress; onClose: () => void }) {
  const { rest } = useExchange();
  const { session } = useSession();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      returned(
        rest.DELETE("/api/v1/users/me/withdrawal-addresses/{addressId}", {
          params: { path: { addressId: saved.id } },
        }),
      ),
    onSettled: () => void client.invalidateQueries({ queryKey: ADDRESSES }),
    onSuccess: () => {
      toastDone(t("The address is deleted"), saved.label);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Delete {label}?", { label: saved.label })}
      operator={session?.email ?? ""}
      confirm={t("Delete the address")}
      danger
      isBusy={remove.isPending}
      problem={explainIfAny(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p className={classes.text}>
        {rich(
          "{address} is forgotten. Saved again, it may have to wait again. Withdrawals that are under way to it go on.",
          { address: <span className="figures">{saved.address}</span> },
        )}
      </p>
    </ConfirmDialog>
  );
}
