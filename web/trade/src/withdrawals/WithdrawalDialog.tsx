import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { useNow } from "#lib/useNow.ts";
import { useMfa } from "../account/queries.ts";
import { attemptKey, returned, useExchange } from "../api/client.ts";
import { isOutcomeUnknown } from "../api/errors.ts";
import { BALANCES } from "../api/live.ts";
import { explain } from "../api/messages.ts";
import { type NetworkQuote, type SavedAddress, WITHDRAWALS } from "./queries.ts";
import classes from "../parts/Fields.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const CODE_LENGTH_MIN = 6;

/** Asks the user to confirm a withdrawal: address, amount, what arrives, and the two-factor authentication code. */
export function WithdrawalDialog({
  quote,
  address,
  isFiat,
  onDone,
  onClose,
}: {
  quote: NetworkQuote;
  address: SavedAddress;
  isFiat: boolean;
  onDone: () => void;
  onClose: () => void;
}) {
  const { rest } = useExchange();
  const client = useQueryClient();
  const mfa = useMfa();
  const now = useNow(1_000);
  const [key, setKey] = useState(attemptKey);
  const [code, setCode] = useState("");
  const { asset, network, amount, feeQuoteId } = quote;
  const withdraw = useMutation({
    mutationFn: () => {
      const params = { header: { "Idempotency-Key": key } };
      const mfaCode = code.trim() || null;
      return returned(
        isFiat
          ? rest.POST("/api/v1/accounts/withdraw/fiat", {
              params,
              body: { currency: asset, amount, bankAccountId: address.id, mfaCode },
            })
          : rest.POST("/api/v1/accounts/withdraw/crypto", {
              params,
              body: { asset, network, amount, addressId: address.id, feeQuoteId, mfaCode },
            }),
      );
    },
    onSettled: () => {
      for (const queryKey of [WITHDRAWALS, BALANCES]) void client.invalidateQueries({ queryKey });
    },
    onSuccess: () => {
      toastDone(
        t("The withdrawal is requested"),
        t("{amount} {asset} to {label}", { amount: formatDecimal(amount), asset, label: address.label }),
      );
      onDone();
    },
    onError: (error) => {
      // While the outcome is unknown, a new try sends the same request with the same key.
      if (isOutcomeUnknown(error)) return;
      setKey(attemptKey());
      setCode("");
    },
  });
  const isUnknown = withdraw.error !== null && isOutcomeUnknown(withdraw.error);
  const asksCode = mfa.data?.enabled ?? false;
  const isExpired = !isFiat && Date.parse(quote.expiresAt) <= now && !isUnknown;
  const blocked = mfa.isPending
    ? t("Your account is on its way.")
    : isExpired
      ? t("The fee held for five minutes. Close this and look the withdrawal over again.")
      : asksCode && code.trim().length < CODE_LENGTH_MIN
        ? t("Enter your two-factor authentication code.")
        : null;
  return (
    <Dialog
      onClose={onClose}
      title={t("Withdraw {amount} {asset}?", { amount: formatDecimal(amount), asset })}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked === null && !withdraw.isPending) withdraw.mutate();
        }}
      >
        <Stack gap="md">
          <dl className={classes.facts}>
            <div>
              <dt>{t("To|destination")}</dt>
              <dd>
                <strong>{address.label}</strong>
              </dd>
            </div>
            <div>
              <dt>{isFiat ? t("Account") : t("Address")}</dt>
              <dd className="figures">{address.address}</dd>
            </div>
            {address.tag && (
              <div>
                <dt>{t("Tag")}</dt>
                <dd className="figures">{address.tag}</dd>
              </div>
            )}
            <div>
              <dt>{t("Network")}</dt>
              <dd>{network}</dd>
            </div>
            <div>
              <dt>{t("Leaves your account")}</dt>
              <dd>
                <AssetAmount value={amount} asset={asset} />
              </dd>
            </div>
            <div>
              <dt>{t("Fee")}</dt>
              <dd>
                <AssetAmount value={quote.fee} asset={asset} />
              </dd>
            </div>
            <div>
              <dt>{t("Arrives")}</dt>
              <dd>
                <strong>
                  <AssetAmount value={quote.netAmount} asset={asset} />
                </strong>
              </dd>
            </div>
          </dl>
          <WarningNote>
            {t("Compare the address sign by sign. What is sent cannot be called back.")}
          </WarningNote>
          {asksCode && (
            <TextInput
              label={t("Two-factor authentication code")}
              value={code}
              disabled={isUnknown}
              inputMode="numeric"
              autoComplete="one-time-code"
              maxLength={64}
              data-autofocus
              onChange={(event) => setCode(event.currentTarget.value)}
            />
          )}
          {withdraw.error && <ProblemNote problem={explain(withdraw.error)} />}
          <Button
            type="submit"
            loading={withdraw.isPending}
            disabled={blocked !== null}
            aria-describedby="withdraw-hint"
          >
            {isUnknown
              ? t("Ask again what became of it")
              : t("Withdraw {amount} {asset}", { amount: formatDecimal(amount), asset })}
          </Button>
          <p id="withdraw-hint" className={classes.hint} role="status">
            {blocked ?? ""}
          </p>
        </Stack>
      </form>
    </Dialog>
  );
}
