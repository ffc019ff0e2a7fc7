import { Button, Select, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { copyAndTell, CopyText } from "#lib/components/CopyText.tsx";
import { DataTable } from "#lib/components/DataTable.tsx";
import type { RowAction } from "#lib/components/RowMenu.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { WITHDRAWAL_LABELS } from "#lib/components/WithdrawalBadge.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import { useUrlState } from "#lib/urlState.ts";
import { returned, useExchange } from "../api/client.ts";
import { BALANCES } from "../api/live.ts";
import { useSession } from "../api/session.ts";
import { explainIfAny } from "../api/messages.ts";
import { type Network, useNetworks } from "../api/queries.ts";
import { WITHDRAWAL_COLUMNS } from "./columns.tsx";
import { useWithdrawalList, useWithdrawals, type Withdrawal, WITHDRAWALS } from "./queries.ts";
import { pausedText } from "./review.ts";
import { hasStopped, isCancellable, isUnderWay } from "./steps.ts";
import { WithdrawalSteps } from "./WithdrawalSteps.tsx";
import fields from "../parts/Fields.module.css";
import classes from "./Withdrawal.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const STATES = Object.keys(WITHDRAWAL_LABELS) as Withdrawal["status"][];

const nameOf = ({ amount, asset }: Withdrawal) => `${formatDecimal(amount)} ${asset}`;

/** The network of a withdrawal, if such withdrawals are paused. */
const pauseOf = ({ asset, network }: Withdrawal, networks: readonly Network[] | undefined) =>
  networks?.find((one) => one.asset === asset && one.network === network && !one.withdrawalsEnabled);

/** Shows the steps of each withdrawal under way, and a list of all withdrawals. */
export function WithdrawalList() {
  const client = useQueryClient();
  const newest = useWithdrawals(isUnderWay);
  const { data: networks } = useNetworks();
  const [chosen, setChosen] = useState<Withdrawal | null>(null);
  const [cancelling, setCancelling] = useState<Withdrawal | null>(null);
  const states = newest.data?.map(({ id, status }) => `${id} ${status}`).join();
  useEffect(() => {
    if (states === undefined) return;
    for (const queryKey of [[...WITHDRAWALS, "list"], BALANCES]) void client.invalidateQueries({ queryKey });
  }, [client, states]);
  const open = (newest.data ?? []).filter(isUnderWay);
  // The newest reading knows more than the row that was clicked.
  const shown = chosen && (newest.data?.find(({ id }) => id === chosen.id) ?? chosen);
  return (
    <>
      {open.length > 0 && (
        <Card title={t("Under way")}>
          <ul className={classes.openList} aria-label={t("Withdrawals under way")}>
            {open.map((withdrawal) => (
              <UnderWay
                key={withdrawal.id}
                withdrawal={withdrawal}
                pause={pauseOf(withdrawal, networks)}
                onCancel={() => setCancelling(withdrawal)}
              />
            ))}
          </ul>
        </Card>
      )}
      <Card flush title={t("Your withdrawals")}>
        <AllWithdrawals onShow={setChosen} onCancel={setCancelling} />
      </Card>
      {shown && <Details withdrawal={shown} onClose={() => setChosen(null)} />}
      {cancelling && <CancelDialog withdrawal={cancelling} onClose={() => setCancelling(null)} />}
    </>
  );
}

function UnderWay({
  withdrawal,
  pause,
  onCancel,
}: {
  withdrawal: Withdrawal;
  /** The network, if withdrawals over it are paused. */
  pause: Network | undefined;
  onCancel: () => void;
}) {
  return (
    <li className={classes.open}>
      <div className={classes.openHead}>
        <div>
          <span className={classes.amount}>
            <AssetAmount value={withdrawal.amount} asset={withdrawal.asset} />
          </span>
          <p>
            {rich("to {address} on {network}", {
              address: <span className="figures">{withdrawal.address}</span>,
              network: withdrawal.network,
            })}
          </p>
        </div>
        {isCancellable(withdrawal, pause !== undefined) && (
          <Button variant="default" onClick={onCancel}>
            {t("Cancel|order")}
          </Button>
        )}
      </div>
      {pause && isCancellable(withdrawal, true) && <p className={classes.note}>{pausedText(pause)}</p>}
      <WithdrawalSteps withdrawal={withdrawal} />
    </li>
  );
}

function AllWithdrawals({
  onShow,
  onCancel,
}: {
  onShow: (withdrawal: Withdrawal) => void;
  onCancel: (withdrawal: Withdrawal) => void;
}) {
  const { parameter, change } = useUrlState();
  const networks = useNetworks();
  const asset = parameter("asset");
  const status = STATES.find((known) => known === parameter("state")) ?? "";
  const query = useWithdrawalList(asset, status);
  const isFiltered = asset !== "" || status !== "";
  const assets = [...new Set((networks.data ?? []).map((entry) => entry.asset))].sort();
  const actions = (withdrawal: Withdrawal): RowAction[] => [
    { label: t("Show its steps"), onClick: () => onShow(withdrawal) },
    {
      label: t("Cancel…"),
      danger: true,
      disabledReason: isCancellable(withdrawal, pauseOf(withdrawal, networks.data) !== undefined)
        ? undefined
        : isUnderWay(withdrawal)
          ? t("It is approved already.")
          : t("It has ended."),
      onClick: () => onCancel(withdrawal),
    },
    { label: t("Copy id"), onClick: () => copyAndTell(withdrawal.id) },
  ];
  return (
    <DataTable
      label={t("Withdrawals")}
      toolbar={
        <div className={classes.filters}>
          <Select
            size="xs"
            aria-label={t("Asset shown")}
            placeholder={t("All assets")}
            clearable
            data={assets}
            value={assets.includes(asset) ? asset : null}
            onChange={(value) => change({ asset: value })}
          />
          <Select
            size="xs"
            aria-label={t("State shown")}
            placeholder={t("All states")}
            clearable
            data={STATES.map((value) => ({ value, label: t(WITHDRAWAL_LABELS[value][0]) }))}
            value={status || null}
            onChange={(value) => change({ state: value })}
          />
        </div>
      }
      columns={WITHDRAWAL_COLUMNS}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ id }) => id}
      rowName={nameOf}
      actions={actions}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        isFiltered ? (
          <EmptyState
            title={t("No such withdrawals")}
            action={
              <Button variant="default" onClick={() => change({ asset: null, state: null })}>
                {t("Show all")}
              </Button>
            }
          >
            {t("None of yours has this asset and this state.")}
          </EmptyState>
        ) : (
          <EmptyState title={t("No withdrawals yet")}>
            {t("What you withdraw appears here, with each step that it takes.")}
          </EmptyState>
        )
      }
      footer={<ShowOlder query={query} />}
    />
  );
}

function Details({ withdrawal, onClose }: { withdrawal: Withdrawal; onClose: () => void }) {
  const { asset, network, amount, fee, netAmount, address, tag, txHash } = withdrawal;
  // Of what was not sent nothing left the account, and nothing arrives.
  const figures = hasStopped(withdrawal)
    ? [[t("Amount"), amount] as const]
    : ([
        [t("Leaves your account"), amount],
        [t("Fee"), fee],
        [t("Arrives"), netAmount],
      ] as const);
  return (
    <Dialog
      onClose={onClose}
      title={t("Withdrawal of {nameOf}", { nameOf: nameOf(withdrawal) })}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <Stack gap="lg">
        <WithdrawalSteps withdrawal={withdrawal} upright />
        <dl className={fields.facts}>
          {figures.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <AssetAmount value={value} asset={asset} />
              </dd>
            </div>
          ))}
          <div>
            <dt>{t("Address")}</dt>
            <dd>
              <CopyText text={address} name={t("address")} />
            </dd>
          </div>
          {tag && (
            <div>
              <dt>{t("Tag")}</dt>
              <dd>{tag}</dd>
            </div>
          )}
          <div>
            <dt>{t("Network")}</dt>
            <dd>{network}</dd>
          </div>
          {/* One that was refused has a hash too, which nobody would find on the network. */}
          {txHash && !hasStopped(withdrawal) && (
            <div>
              <dt>{t("Transaction")}</dt>
              <dd>
                <CopyText text={txHash} name={t("transaction")} />
              </dd>
            </div>
          )}
        </dl>
      </Stack>
    </Dialog>
  );
}

function CancelDialog({ withdrawal, onClose }: { withdrawal: Withdrawal; onClose: () => void }) {
  const { rest } = useExchange();
  const { session } = useSession();
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () =>
      returned(
        rest.DELETE("/api/v1/accounts/withdrawals/{withdrawalId}", {
          params: { path: { withdrawalId: withdrawal.id } },
        }),
      ),
    onSettled: () => {
      for (const queryKey of [WITHDRAWALS, BALANCES]) void client.invalidateQueries({ queryKey });
    },
    onSuccess: () => {
      toastDone(
        t("The withdrawal is cancelled"),
        t("{nameOf} are free again.", { nameOf: nameOf(withdrawal) }),
      );
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Cancel the withdrawal?")}
      operator={session?.email ?? ""}
      confirm={t("Cancel the withdrawal")}
      dismiss={t("Keep it")}
      danger
      isBusy={cancel.isPending}
      problem={explainIfAny(cancel.error)}
      onConfirm={() => cancel.mutate()}
      onClose={onClose}
    >
      <p className={classes.text}>
        {withdrawal.status === "pending_approval"
          ? rich(
              "{nameOf} go back to your free funds. It works as long as nobody has approved the withdrawal.",
              { nameOf: nameOf(withdrawal) },
            )
          : rich("{nameOf} go back to your free funds. It works as long as such withdrawals are paused.", {
              nameOf: nameOf(withdrawal),
            })}
      </p>
    </ConfirmDialog>
  );
}
