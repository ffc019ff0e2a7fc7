import { Button, Stack } from "@mantine/core";
import { useState } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { percentOfRate } from "#lib/rates.ts";
import { returned, useExchange } from "../api/client.ts";
import { BALANCES } from "../api/live.ts";
import { useOnce } from "../api/once.ts";
import { useBalances } from "../api/queries.ts";
import { explain } from "../api/messages.ts";
import { type Product, type Stake, STAKING } from "./queries.ts";
import { kindOf, stakeFaultOf, unstakeFaultOf, wayBackOf } from "./staking.ts";
import classes from "../parts/Fields.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { amountText } from "../parts/assetPlaces.ts";

/** Stakes an amount in a product. */
export function StakeDialog({ product, onClose }: { product: Product; onClose: () => void }) {
  const { rest } = useExchange();
  const balances = useBalances();
  const [amount, setAmount] = useState("");
  const { id: productId, asset } = product;
  const free = balances.data ? (balances.data.find((row) => row.asset === asset)?.available ?? "0") : null;
  const sending = useOnce(
    (key) =>
      returned(
        rest.POST("/api/v1/staking/stake", {
          params: { header: { "Idempotency-Key": key } },
          body: { productId, amount: amount.trim() },
        }),
      ),
    {
      reads: [STAKING, BALANCES],
      onDone: () => {
        toastDone(
          t("It is staked"),
          t("{amount} {asset} earn from midnight (UTC) on.", { amount: formatDecimal(amount.trim()), asset }),
        );
        onClose();
      },
    },
  );
  const blocked = sending.isUnknown ? null : stakeFaultOf(product, amount.trim(), free);
  return (
    <Dialog
      onClose={onClose}
      title={t("Stake {asset}", { asset })}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked === null && !sending.isPending) sending.mutate();
        }}
      >
        <Stack gap="md">
          <dl className={classes.facts}>
            <div>
              <dt>{t("Product")}</dt>
              <dd>{kindOf(product)}</dd>
            </div>
            <div>
              <dt>{t("Rate a year")}</dt>
              <dd>
                <strong className="figures">{percentOfRate(product.apr)}</strong>
              </dd>
            </div>
          </dl>
          <div className={classes.row}>
            <DecimalField
              label={t("Amount in {asset}", { asset })}
              description={
                free === null
                  ? t("Your balances are on their way.")
                  : t("{amountText} {asset} free", { amountText: amountText(free, asset), asset })
              }
              value={amount}
              disabled={sending.isUnknown}
              data-autofocus
              onValue={setAmount}
            />
            <Button
              variant="default"
              disabled={free === null || sending.isUnknown}
              onClick={() => free !== null && setAmount(free)}
            >
              {t("All")}
            </Button>
          </div>
          {product.type === "flexible" ? (
            <p className={classes.hint}>{wayBackOf(product)}</p>
          ) : (
            <WarningNote>{wayBackOf(product)}</WarningNote>
          )}
          {sending.error && <ProblemNote problem={explain(sending.error)} />}
          <Button
            type="submit"
            loading={sending.isPending}
            disabled={blocked !== null}
            aria-describedby="stake-hint"
          >
            {sending.isUnknown ? t("Ask again what became of it") : t("Stake it")}
          </Button>
          <p id="stake-hint" className={classes.hint} role="status">
            {blocked ?? ""}
          </p>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Takes a stake back: a part of a flexible one, or the whole of a locked one. */
export function UnstakeDialog({
  stake,
  product,
  onClose,
}: {
  stake: Stake;
  product: Product | undefined;
  onClose: () => void;
}) {
  const { rest } = useExchange();
  const [amount, setAmount] = useState(stake.amount);
  const isFlexible = stake.type === "flexible";
  const sending = useOnce(
    (key) =>
      returned(
        rest.POST("/api/v1/staking/unstake", {
          params: { header: { "Idempotency-Key": key } },
          body: { balanceId: stake.id, ...(isFlexible ? { amount: amount.trim() } : {}) },
        }),
      ),
    {
      reads: [STAKING, BALANCES],
      onDone: () => {
        toastDone(t("It is on its way back"), t("“On the way back” says when it arrives."));
        onClose();
      },
    },
  );
  const blocked = isFlexible && !sending.isUnknown ? unstakeFaultOf(stake, amount.trim(), product) : null;
  return (
    <Dialog
      onClose={onClose}
      title={t("Take {asset} back", { asset: stake.asset })}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked === null && !sending.isPending) sending.mutate();
        }}
      >
        <Stack gap="md">
          <dl className={classes.facts}>
            <div>
              <dt>{t("Staked")}</dt>
              <dd>
                <AssetAmount value={stake.amount} asset={stake.asset} />
              </dd>
            </div>
            <div>
              <dt>{t("Rewards so far")}</dt>
              <dd>
                <AssetAmount value={stake.accrued} asset={stake.asset} />
              </dd>
            </div>
          </dl>
          {isFlexible && (
            <DecimalField
              label={t("Amount in {asset}", { asset: stake.asset })}
              value={amount}
              disabled={sending.isUnknown}
              data-autofocus
              onValue={setAmount}
            />
          )}
          {isFlexible ? (
            <p className={classes.hint}>{wayBackOf(stake)}</p>
          ) : (
            <WarningNote>{wayBackOf(stake)}</WarningNote>
          )}
          {sending.error && <ProblemNote problem={explain(sending.error)} />}
          <Button
            type="submit"
            loading={sending.isPending}
            disabled={blocked !== null}
            aria-describedby="unstake-hint"
          >
            {sending.isUnknown ? t("Ask again what became of it") : t("Take it back")}
          </Button>
          <p id="unstake-hint" className={classes.hint} role="status">
            {blocked ?? ""}
          </p>
        </Stack>
      </form>
    </Dialog>
  );
}
