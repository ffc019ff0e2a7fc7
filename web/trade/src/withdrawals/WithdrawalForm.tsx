import { Button, Select } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { ErrorState, ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { useNow } from "#lib/useNow.ts";
import { returned, useExchange } from "../api/client.ts";
import { explain } from "../api/messages.ts";
import { AddressDialog } from "./AddressDialog.tsx";
import { useVerification } from "../account/queries.ts";
import { useBalances, useNetworks } from "../api/queries.ts";
import { type NetworkQuote, type SavedAddress, useSavedAddresses } from "./queries.ts";
import { WithdrawalDialog } from "./WithdrawalDialog.tsx";
import { arrivingOf, faultOf, mostOf, pausedText } from "./review.ts";
import classes from "../parts/Fields.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { amountText } from "../parts/assetPlaces.ts";

const WAIT_LOOK_MS = 5_000;

/** Asks for asset, address and amount, and shows what arrives. The fee is fixed before the user confirms. */
export function WithdrawalForm({ first }: { first: string }) {
  const { rest } = useExchange();
  const networks = useNetworks();
  const balances = useBalances();
  const addresses = useSavedAddresses();
  const verification = useVerification();
  const now = useNow(WAIT_LOOK_MS);
  const [asset, setAsset] = useState(first);
  const [chosenNetwork, setChosenNetwork] = useState<string | null>(null);
  const [addressId, setAddressId] = useState<string | null>(null);
  const [amount, setAmount] = useState("");
  const [isSaving, setIsSaving] = useState(false);
  const [quote, setQuote] = useState<NetworkQuote | null>(null);
  const known = networks.data ?? [];
  const assets = [...new Set(known.map((entry) => entry.asset))].sort();
  const offered = known.filter((entry) => entry.asset === asset);
  const network = offered.find((entry) => entry.network === chosenNetwork) ?? offered[0];
  const fitting = (addresses.data ?? []).filter(
    (saved) => saved.asset === asset && saved.network === network?.network,
  );
  const address =
    fitting.find(({ id }) => id === addressId) ?? (fitting.length === 1 ? fitting[0] : undefined);
  const free = balances.data ? (balances.data.find((row) => row.asset === asset)?.available ?? "0") : null;
  const ask = useMutation({
    mutationFn: (wanted: { asset: string; network: string; amount: string }) =>
      returned(rest.GET("/api/v1/fees/network", { params: { query: wanted } })),
    onSuccess: setQuote,
  });
  if (networks.error && !networks.data) {
    return <ErrorState problem={explain(networks.error)} onRetry={() => void networks.refetch()} />;
  }
  const blocked = faultOf({
    network,
    address,
    amount: amount.trim(),
    free,
    verification: verification.data,
    now,
  });
  const arriving = network ? arrivingOf(amount.trim(), network) : null;
  return (
    <Card title={t("New withdrawal")}>
      <form
        className={classes.fields}
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked === null && network && !ask.isPending)
            ask.mutate({ asset, network: network.network, amount: amount.trim() });
        }}
      >
        <Select
          label={t("Asset")}
          placeholder={t("Choose what you withdraw")}
          searchable
          nothingFoundMessage={t("No asset of that name")}
          data={assets}
          value={assets.includes(asset) ? asset : null}
          onChange={(value) => {
            setAsset(value ?? "");
            setChosenNetwork(null);
            setAddressId(null);
          }}
        />
        {offered.length > 1 && (
          <Select
            label={t("Network")}
            description={t("Choose the one that the receiver names: another one loses the money.")}
            data={offered.map((entry) => entry.network)}
            value={network?.network ?? null}
            allowDeselect={false}
            onChange={(value) => {
              setChosenNetwork(value);
              setAddressId(null);
            }}
          />
        )}
        {network && !network.withdrawalsEnabled && <WarningNote>{pausedText(network)}</WarningNote>}
        <div className={classes.row}>
          <Select
            label={network?.fiat ? t("Bank account") : t("To address")}
            placeholder={
              !network
                ? t("Choose the asset first")
                : fitting.length > 0
                  ? t("Choose one")
                  : t("None is saved yet")
            }
            disabled={!network || fitting.length === 0}
            data={fitting.map((saved) => ({ value: saved.id, label: `${saved.label} · ${saved.address}` }))}
            value={address?.id ?? null}
            onChange={setAddressId}
          />
          <Button variant="default" disabled={!network} onClick={() => setIsSaving(true)}>
            {t("Add")}
          </Button>
        </div>
        {addresses.error && !addresses.data && <ProblemNote problem={explain(addresses.error)} />}
        <div className={classes.row}>
          <DecimalField
            label={asset ? t("Amount in {asset}", { asset }) : t("Amount")}
            description={
              !network
                ? undefined
                : free === null
                  ? t("Your balances are on their way.")
                  : t("{amountText} {asset} free", { amountText: amountText(free, asset), asset })
            }
            value={amount}
            disabled={!network}
            onValue={(text) => {
              setAmount(text);
              ask.reset();
            }}
          />
          <Button
            variant="default"
            disabled={!network || free === null}
            onClick={() => network && free !== null && setAmount(mostOf(free, network.places))}
          >
            {t("All")}
          </Button>
        </div>
        {network && (
          <dl className={classes.facts}>
            <div>
              <dt>{t("Fee")}</dt>
              <dd>
                <AssetAmount value={network.fee} asset={asset} />
              </dd>
            </div>
            <div>
              <dt>{t("Arrives")}</dt>
              <dd>
                <strong>{arriving === null ? "–" : <AssetAmount value={arriving} asset={asset} />}</strong>
              </dd>
            </div>
            <div>
              <dt>{t("At least")}</dt>
              <dd>
                <AssetAmount value={network.minimum} asset={asset} />
              </dd>
            </div>
          </dl>
        )}
        {ask.error && <ProblemNote problem={explain(ask.error)} />}
        <Button
          type="submit"
          loading={ask.isPending}
          disabled={blocked !== null}
          aria-describedby="withdrawal-hint"
        >
          {t("Review")}
        </Button>
        <p id="withdrawal-hint" className={classes.hint} role="status">
          {blocked ?? ""}
        </p>
      </form>
      {isSaving && network && (
        <AddressDialog
          network={network}
          onSaved={(saved: SavedAddress) => {
            setAddressId(saved.id);
            setIsSaving(false);
          }}
          onClose={() => setIsSaving(false)}
        />
      )}
      {quote && network && address && (
        <WithdrawalDialog
          key={quote.feeQuoteId}
          quote={quote}
          address={address}
          isFiat={network.fiat}
          onDone={() => {
            setQuote(null);
            setAmount("");
          }}
          onClose={() => setQuote(null)}
        />
      )}
    </Card>
  );
}
