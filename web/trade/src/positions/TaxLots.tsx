import { Button, FileButton, Skeleton, Title } from "@mantine/core";
import { DownloadIcon, UploadIcon } from "@primer/octicons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Fragment, useRef, useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { EmptyState, ErrorState, ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { toastFailed } from "#lib/components/toasts.tsx";
import { rich, several, t } from "#lib/language.ts";
import { saveFile } from "#lib/saveFile.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { Said } from "../parts/Said.tsx";
import { AssetDetails } from "./AssetDetails.tsx";
import { sayFault } from "./importFault.ts";
import {
  type Holding,
  type ImportReport,
  type Owner,
  readAgain,
  readTaxYear,
  sendFile,
  type TaxYear,
  useCostBasis,
} from "./queries.ts";
import { Result } from "./Result.tsx";
import classes from "./TaxLots.module.css";

const FILE_BYTES_MAX = 5_000_000;

/** What the user holds by lots, gains by tax year with their files, and the way to bring history from elsewhere. */
export function TaxLots({ owner }: { owner: Owner }) {
  const query = useCostBasis(owner);
  const { data } = query;
  const [shortfall] = data?.shortfalls ?? [];
  const [asset, setAsset] = useState<string | null>(null);
  const currency = data?.currency ?? "";
  const holdings: Column<Holding>[] = [
    { id: "asset", title: t("Asset"), cell: (row) => <strong>{row.asset}</strong> },
    { id: "account", title: t("Account"), cell: (row) => row.account },
    {
      id: "quantity",
      title: t("Quantity"),
      align: "right",
      cell: (row) => <Amount value={row.quantity} unit={row.asset} />,
    },
    {
      id: "cost",
      title: t("Cost"),
      align: "right",
      cell: (row) => <Amount value={row.cost} unit={currency} places={2} />,
    },
    { id: "lots", title: t("Lots"), align: "right", cell: (row) => row.lots },
  ];
  const years: Column<TaxYear>[] = [
    { id: "year", title: t("Tax year"), cell: (row) => <strong>{row.taxYear}</strong> },
    { id: "asset", title: t("Asset"), cell: (row) => row.asset },
    { id: "disposals", title: t("Disposals"), align: "right", cell: (row) => row.disposals },
    {
      id: "proceeds",
      title: t("Proceeds"),
      align: "right",
      cell: (row) => <Amount value={row.proceeds} unit={currency} places={2} />,
    },
    {
      id: "cost",
      title: t("Cost"),
      align: "right",
      cell: (row) => <Amount value={row.cost} unit={currency} places={2} />,
    },
    {
      id: "gain",
      title: t("Gain"),
      align: "right",
      cell: (row) => <Result value={row.gain} unit={currency} />,
    },
  ];
  const problem = explainIfAny(query.error);
  if (!data) {
    return problem ? (
      <ErrorState problem={problem} onRetry={() => void query.refetch()} />
    ) : (
      <Skeleton height={240} role="progressbar" aria-label={t("Loading the tax lots")} />
    );
  }
  return (
    <>
      <Import owner={owner} />
      {data.shortfallCount > 0 && (
        <div className={classes.note}>
          <WarningNote>
            {several(
              data.shortfallCount,
              "{count} transaction took more than the account held, so nothing of it counts yet. Import what is missing.",
              "{count} transactions took more than the account held, so nothing of it counts yet. Import what is missing.",
            )}{" "}
            {shortfall && rich("The first one: {reason}.", { reason: <Said reason={shortfall.reason} /> })}
          </WarningNote>
        </div>
      )}
      {data.unvaluedFills > 0 && (
        <p className={classes.hint}>
          {several(
            data.unvaluedFills,
            "{count} fill wait for a price of their quote asset.",
            "{count} fills wait for a price of their quote asset.",
          )}
        </p>
      )}
      <DataTable
        label={t("Holdings by lots")}
        toolbar={<Title order={2}>{t("Holdings by lots")}</Title>}
        columns={holdings}
        rows={data.holdings}
        rowId={(row) => `${row.account} ${row.asset}`}
        rowName={(row) => t("{asset} in {account}", { asset: row.asset, account: row.account })}
        actions={(row) => [{ label: t("Show its lots and sales"), onClick: () => setAsset(row.asset) }]}
        state={query}
        problem={problem}
        empty={
          <EmptyState title={t("No tax lots yet")}>
            {t(
              "Import the file of your trades elsewhere: each purchase becomes a lot, and sales use the oldest first.",
            )}
          </EmptyState>
        }
      />
      {data.gains.length > 0 && (
        <>
          <DataTable
            label={t("Gains by tax year")}
            toolbar={<Title order={2}>{t("Gains by tax year")}</Title>}
            columns={years}
            rows={data.gains}
            rowId={(row) => `${row.taxYear} ${row.asset}`}
            rowName={(row) => `${row.taxYear} ${row.asset}`}
            state={query}
            problem={problem}
            empty={null}
          />
          <Files owner={owner} years={[...new Set(data.gains.map(({ taxYear }) => taxYear))]} />
        </>
      )}
      {asset !== null && <AssetDetails owner={owner} asset={asset} onClose={() => setAsset(null)} />}
    </>
  );
}

/** A file of the disposals of each year. */
function Files({ owner, years }: { owner: Owner; years: readonly number[] }) {
  const download = useMutation({
    mutationFn: async (year: number) => saveFile(await readTaxYear(owner, year), `disposals-${year}.csv`),
    onError: (error) => {
      const { title, advice } = explain(error);
      toastFailed(title, advice);
    },
  });
  return (
    <div className={classes.bar}>
      {years.map((year) => (
        <Button
          key={year}
          size="xs"
          variant="default"
          leftSection={<DownloadIcon />}
          loading={download.isPending && download.variables === year}
          onClick={() => download.mutate(year)}
        >
          {rich("Disposals of {year}", { year })}
        </Button>
      ))}
    </div>
  );
}

function Import({ owner }: { owner: Owner }) {
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: (file: File) => sendFile(owner, file),
    onSettled: () => readAgain(client),
  });
  const [tooLarge, setTooLarge] = useState(false);
  const forget = useRef<() => void>(null);
  const choose = (file: File | null) => {
    if (file === null) return;
    // Else the browser would not tell that the same file was chosen again, once it is corrected.
    forget.current?.();
    setTooLarge(file.size > FILE_BYTES_MAX);
    if (file.size <= FILE_BYTES_MAX) send.mutate(file);
  };
  return (
    <div className={classes.import}>
      <div className={classes.bar}>
        <FileButton
          accept=".csv,text/csv"
          resetRef={forget}
          onChange={choose}
          inputProps={{ "aria-label": t("File of transactions") }}
        >
          {(props) => (
            <Button {...props} size="xs" leftSection={<UploadIcon />} loading={send.isPending}>
              {t("Import a CSV file")}
            </Button>
          )}
        </FileButton>
        <p className={classes.hint}>
          {t(
            "Of Coinbase, Kraken, Bitstamp, or with our own columns. A line that is known already changes nothing.",
          )}
        </p>
      </div>
      {tooLarge && (
        <ProblemNote
          problem={{
            title: t("The file is too large for this page"),
            detail: t("It takes files of at most 5 MB."),
            advice: t("Split it: parts may come in any order. The API takes larger files."),
          }}
        />
      )}
      {!tooLarge && send.error && <ProblemNote problem={explain(send.error)} />}
      {!tooLarge && send.data && <Report report={send.data} />}
    </div>
  );
}

function Report({ report }: { report: ImportReport }) {
  const { accepted, repeated, refusedCount, refused, uncovered } = report;
  return (
    <section className={classes.report} aria-label={t("Report of the import")} role="status">
      <p>
        <strong>{several(accepted, "{count} line imported", "{count} lines imported")}</strong>
        {repeated > 0 && t(", {repeated} known already", { repeated })}
        {refusedCount > 0
          ? t(", {refusedCount} refused. Correct these and import the file again:", { refusedCount })
          : "."}
      </p>
      {refused.length > 0 && (
        <ul className={classes.lines} aria-label={t("Refused lines")}>
          {refused.map(({ line, externalId, reasons }) => (
            <li key={line}>
              {rich("Line {line}", { line })}
              {externalId !== null && ` (${externalId})`}:{" "}
              {reasons.map((fault, at) => {
                const { detail, language } = sayFault(fault);
                return (
                  <Fragment key={`${fault.field} ${fault.reason}`}>
                    {at > 0 && "; "}
                    <span lang={language}>{detail}</span>
                  </Fragment>
                );
              })}
            </li>
          ))}
        </ul>
      )}
      {uncovered.length > 0 && (
        <p>
          {several(
            uncovered.length,
            "{count} transaction took more than the account held and count once the rest is imported.",
            "{count} transactions took more than the account held and count once the rest is imported.",
          )}
        </p>
      )}
    </section>
  );
}
