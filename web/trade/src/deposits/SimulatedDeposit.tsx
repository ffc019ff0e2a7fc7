import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { readScaled } from "#lib/scaled.ts";
import { decimalForm } from "#lib/decimalForm.ts";
import { bearer, useExchange } from "../api/client.ts";
import { RefusedError, UnreachableError } from "../api/errors.ts";
import { BALANCES } from "../api/live.ts";
import { explain } from "../api/messages.ts";
import type { Network } from "../api/queries.ts";
import classes from "../parts/Fields.module.css";

const TIMEOUT_MS = 120_000;

/** Simulates a deposit. It is shown only if the web server simulates deposits, as on a developer's computer. */
export function SimulatedDeposit({ entry, minimum }: { entry: Network; minimum: string }) {
  const { freshToken } = useExchange();
  const client = useQueryClient();
  const [amount, setAmount] = useState("");
  const { asset, network, fiat } = entry;
  const simulate = useMutation({
    mutationFn: async () => {
      const token = await freshToken();
      const response = await fetch("/simulated-deposits", {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Authorization: bearer(token ?? ""),
        },
        body: JSON.stringify({ asset, network, amount: amount.trim(), fiat }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch(() => {
        throw new UnreachableError(window.location.origin, false);
      });
      if (!response.ok) {
        throw new RefusedError(response.status, await response.json().catch(() => null), null);
      }
    },
    onSettled: () => {
      for (const queryKey of [["funds"], BALANCES]) void client.invalidateQueries({ queryKey });
    },
    onSuccess: () => {
      toastDone(
        fiat ? t("The transfer has arrived") : t("The deposit is on its way"),
        fiat
          ? `${formatDecimal(amount.trim())} ${asset}`
          : t("{amount} {asset}; the list of deposits shows when it counts", {
              amount: formatDecimal(amount.trim()),
              asset,
            }),
      );
      setAmount("");
    },
  });
  const fault = faultOf(amount.trim(), minimum, asset);
  return (
    <form
      className={classes.fields}
      aria-label={t("Simulated deposit")}
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === null && !simulate.isPending) simulate.mutate();
      }}
    >
      <div className={classes.row}>
        <DecimalField
          label={t("Simulate a deposit in {asset}", { asset })}
          value={amount}
          onValue={(text) => {
            setAmount(text);
            simulate.reset();
          }}
        />
        <Button
          type="submit"
          loading={simulate.isPending}
          disabled={fault !== null}
          aria-describedby="simulated-deposit-hint"
        >
          {t("Simulate")}
        </Button>
      </div>
      {simulate.error && <ProblemNote problem={explain(simulate.error)} />}
      <p id="simulated-deposit-hint" className={classes.hint} role="status">
        {fault ?? t("This platform runs on your computer alone, so it can simulate deposits.")}
      </p>
    </form>
  );
}

function faultOf(amount: string, minimum: string, asset: string): string | null {
  if (amount === "") return t("Enter an amount: nothing real is sent.");
  const value = readScaled(amount);
  if (value === null || value <= 0n)
    return t("An amount is {decimalForm}, more than zero.", { decimalForm: decimalForm() });
  return value < (readScaled(minimum) ?? 0n)
    ? t("The least amount is {minimum} {asset}.", { minimum: formatDecimal(minimum), asset })
    : null;
}
