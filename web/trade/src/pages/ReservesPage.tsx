import { Button, Group, Stack } from "@mantine/core";
import { DownloadIcon, ShieldCheckIcon } from "@primer/octicons-react";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { CopyText } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState, ErrorState, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { compareDecimals } from "#lib/decimal.ts";
import { t, texts } from "#lib/language.ts";
import { saveFile } from "#lib/saveFile.ts";
import type { Schemas } from "../api/client.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { useSession } from "../api/session.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { FundsNavigation } from "../parts/FundsNavigation.tsx";
import { PageLink } from "../parts/PageLink.tsx";
import { canCheck, type Fault, type Owed, ProofError } from "../reserves/proof.ts";
import { useCheck, useStatements } from "../reserves/queries.ts";
import classes from "./PlainPage.module.css";

type Statement = Schemas["ReserveStatementResponse"];
type Asset = Schemas["ReserveAssetResponse"];

const FAULTS: Record<Fault, string> = texts({
  statement: "The statement does not have the digest that it states.",
  user: "The proof is that of another user.",
  leaf: "A leaf of yours does not lead to the root that was published.",
  sum: "A sum on the way to the root is not the sum of what is below it.",
});

const ASSETS: readonly Column<Asset>[] = [
  {
    id: "asset",
    get title() {
      return t("Asset");
    },
    cell: ({ asset }) => <strong>{asset}</strong>,
  },
  {
    id: "owed",
    get title() {
      return t("Owed to all users");
    },
    align: "right",
    cell: ({ asset, liabilities }) => <AssetAmount value={liabilities} asset={asset} />,
  },
  {
    id: "held",
    get title() {
      return t("Held");
    },
    align: "right",
    cell: ({ asset, reserves }) => <AssetAmount value={reserves} asset={asset} />,
  },
  {
    id: "covered",
    get title() {
      return t("Covered");
    },
    cell: ({ liabilities, reserves }) =>
      compareDecimals(reserves, liabilities) < 0 ? (
        <Badge tone="negative" shape="▲">
          {t("Less than is owed")}
        </Badge>
      ) : (
        <Badge tone="positive" shape="✓">
          {t("Covered")}
        </Badge>
      ),
  },
];

const OWED: readonly Column<Owed>[] = [
  {
    id: "asset",
    get title() {
      return t("Asset");
    },
    cell: ({ asset }) => <strong>{asset}</strong>,
  },
  {
    id: "amount",
    get title() {
      return t("Owed to you");
    },
    align: "right",
    cell: ({ asset, amount }) => <AssetAmount value={amount} asset={asset} />,
  },
];

const ALWAYS_THERE = { isPending: false, isFetching: false, dataUpdatedAt: 0, refetch: () => undefined };

/** What the exchange has proved that it owes, and whether the user's own part of it holds. */
export default function ReservesPage() {
  const statements = useStatements();
  const { session } = useSession();
  const newest = statements.data?.[0];
  return (
    <div className={classes.page}>
      <PageHeader title={t("Proof of reserves")}>
        {t("What this exchange owes all its users at one moment, and what it holds.")}
      </PageHeader>
      {session && <FundsNavigation />}
      {newest === undefined ? (
        <Card>
          {statements.error ? (
            <ErrorState problem={explain(statements.error)} onRetry={() => void statements.refetch()} />
          ) : (
            <EmptyState title={statements.isPending ? t("Loading") : t("Nothing was proved yet")}>
              {t("The operator of this exchange makes the proofs.")}
            </EmptyState>
          )}
        </Card>
      ) : (
        <Stack gap="md">
          <Card flush>
            <DataTable
              label={t("Proof of reserves")}
              isWhole
              toolbar={<TimeText milliseconds={Date.parse(newest.takenAt)} />}
              columns={ASSETS}
              rows={newest.assets}
              rowId={({ asset }) => asset}
              rowName={({ asset }) => asset}
              state={statements}
              problem={explainIfAny(statements.error)}
              empty={null}
            />
          </Card>
          <Card>
            <p>{t("Compare this digest with that of other users: all must see the same.")}</p>
            <CopyText text={newest.digest} name={t("digest")} />
          </Card>
          <Own key={newest.id} statement={newest} />
        </Stack>
      )}
    </div>
  );
}

function Own({ statement }: { statement: Statement }) {
  const { session } = useSession();
  const check = useCheck(session?.userId ?? "");
  if (session === null)
    return (
      <Card>
        <PageLink href="/login?next=%2Freserves">{t("Log in to check your own balances.")}</PageLink>
      </Card>
    );
  const { data, error } = check;
  return (
    <Card>
      <Stack gap="sm">
        <p>
          {t(
            "Your browser computes the hashes from your balances up to the root. Nobody else's name is in it.",
          )}
        </p>
        {!canCheck() && <WarningNote>{t("This browser computes hashes on secure pages only.")}</WarningNote>}
        {error && (
          <WarningNote>
            {error instanceof ProofError
              ? t("Your proof does not hold: {reason}", { reason: t(FAULTS[error.fault]) })
              : explain(error).title}
          </WarningNote>
        )}
        <Group>
          <Button
            leftSection={<ShieldCheckIcon />}
            loading={check.isPending}
            disabled={!canCheck()}
            onClick={() => check.mutate(statement.id)}
          >
            {t("Check my balances")}
          </Button>
          {data && (
            <Button
              variant="default"
              leftSection={<DownloadIcon />}
              onClick={() =>
                saveFile(
                  new Blob([JSON.stringify(data.proof)], { type: "application/json" }),
                  `proof-${statement.id}.json`,
                )
              }
            >
              {t("Save the proof")}
            </Button>
          )}
        </Group>
        {data && (
          <>
            <Badge tone="positive" shape="✓">
              {t("Your proof holds")}
            </Badge>
            <DataTable
              label={t("Owed to you")}
              isWhole
              columns={OWED}
              rows={data.owed}
              rowId={({ asset }) => asset}
              rowName={({ asset }) => asset}
              state={ALWAYS_THERE}
              problem={null}
              empty={<EmptyState title={t("You were owed nothing then")}>{null}</EmptyState>}
            />
          </>
        )}
      </Stack>
    </Card>
  );
}
