import { Select, Skeleton, Stack } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { CopyText } from "#lib/components/CopyText.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { late } from "#lib/components/late.tsx";
import { rich, several, t } from "#lib/language.ts";
import { explain } from "../api/messages.ts";
import classes from "./DepositDialog.module.css";
import { type Network, useNetworks } from "../api/queries.ts";
import { useBankDetails, useDepositAddress, useSimulatesDeposits } from "./queries.ts";
import { SimulatedDeposit } from "./SimulatedDeposit.tsx";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const QrCode = late(() => import("../parts/QrCode.tsx"), {
  waiting: () => <Skeleton width={168} height={168} />,
});

/** Shows the address to deposit to, by asset and network. `first` is the asset chosen at first; empty chooses none. */
export function DepositDialog({ first, onClose }: { first: string; onClose: () => void }) {
  const networks = useNetworks();
  const [asset, setAsset] = useState(first);
  const [network, setNetwork] = useState<string | null>(null);
  const assets = [...new Set((networks.data ?? []).map((entry) => entry.asset))].sort();
  const offered = (networks.data ?? []).filter((entry) => entry.asset === asset);
  const chosen = offered.find((entry) => entry.network === network) ?? offered[0];
  return (
    <Dialog onClose={onClose} title={t("Deposit")} closeButtonProps={{ "aria-label": t("Close") }}>
      <Stack gap="md">
        {networks.error && <ProblemNote problem={explain(networks.error)} />}
        <Select
          label={t("Asset")}
          placeholder={t("Choose what you deposit")}
          searchable
          nothingFoundMessage={t("No asset of that name")}
          data={assets}
          value={assets.includes(asset) ? asset : null}
          onChange={(value) => {
            setAsset(value ?? "");
            setNetwork(null);
          }}
        />
        {offered.length > 1 && (
          <Select
            label={t("Network")}
            data={offered.map((entry) => entry.network)}
            value={chosen?.network ?? null}
            onChange={setNetwork}
          />
        )}
        {chosen && !chosen.depositsEnabled && (
          <WarningNote>
            {t("Deposits of {asset} over {network} are paused. What comes is credited after the pause.", {
              asset,
              network: chosen.network,
            })}
            {chosen.notice && ` ${chosen.notice}`}
          </WarningNote>
        )}
        {chosen && (chosen.fiat ? <BankDetails entry={chosen} /> : <Address entry={chosen} />)}
      </Stack>
    </Dialog>
  );
}

function Address({ entry }: { entry: Network }) {
  const { asset, network } = entry;
  const simulates = useSimulatesDeposits();
  const { data, error } = useDepositAddress(asset, network);
  if (error && !data) return <ProblemNote problem={explain(error)} />;
  if (!data) return <Skeleton height={240} role="progressbar" aria-label={t("Loading the address")} />;
  return (
    <div className={classes.address}>
      <QrCode text={data.address} label={t("QR code of your {asset} address", { asset })} />
      <CopyText text={data.address} name={t("address")} />
      {data.tag && (
        <WarningNote>
          {rich("Send it with the tag {copyText}: without it the deposit cannot be found.", {
            copyText: <CopyText text={data.tag} name={t("tag")} />,
          })}
        </WarningNote>
      )}
      <dl className={classes.facts}>
        <Fact name={t("Network")}>{data.network}</Fact>
        <Fact name={t("At least")}>
          <AssetAmount value={data.minimum} asset={asset} />
        </Fact>
        <Fact name={t("Credited after")}>
          {several(data.confirmations, "{count} confirmation", "{count} confirmations")}
        </Fact>
      </dl>
      <WarningNote>
        {rich("Send {asset} by {network} alone. Anything else is lost.", { asset, network: data.network })}
        {data.simulated && " " + t("This exchange simulates its chains: real coins sent here are lost too.")}
      </WarningNote>
      {simulates && (
        <SimulatedDeposit key={`${asset} ${entry.network}`} entry={entry} minimum={data.minimum} />
      )}
    </div>
  );
}

function BankDetails({ entry }: { entry: Network }) {
  const { asset } = entry;
  const simulates = useSimulatesDeposits();
  const { data, error } = useBankDetails(asset);
  if (error && !data) return <ProblemNote problem={explain(error)} />;
  if (!data) return <Skeleton height={160} role="progressbar" aria-label={t("Loading the bank details")} />;
  return (
    <div className={classes.address}>
      <dl className={classes.facts}>
        <Fact name={t("Bank")}>{data.bankName}</Fact>
        <Fact name={t("Account holder")}>{data.accountName}</Fact>
        <Fact name={t("Account")}>
          <CopyText text={data.account} name={t("account")} />
        </Fact>
        <Fact name={t("Reference")}>
          <CopyText text={data.reference} name={t("reference")} />
        </Fact>
        <Fact name={t("At least")}>
          <AssetAmount value={data.minimum} asset={asset} />
        </Fact>
      </dl>
      <WarningNote>
        {t("Give the reference: it says that the money is yours.")}
        {data.simulated && " " + t("This exchange simulates its bank: send no real money.")}
      </WarningNote>
      {simulates && (
        <SimulatedDeposit key={`${asset} ${entry.network}`} entry={entry} minimum={data.minimum} />
      )}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
