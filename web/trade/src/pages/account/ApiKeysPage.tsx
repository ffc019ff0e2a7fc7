import { Button } from "@mantine/core";
import { PlusIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell, CopyText } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { t } from "#lib/language.ts";
import { type ApiKey, CreateKeyDialog, RevokeKeyDialog, RotateKeyDialog } from "../../account/KeyDialogs.tsx";
import { SCOPES } from "../../account/keyRules.ts";
import { useApiKeys } from "../../account/queries.ts";
import { explainIfAny } from "../../api/messages.ts";
import classes from "./ApiKeysPage.module.css";

type Dialog = { kind: "create" } | { kind: "rotate" | "revoke"; apiKey: ApiKey };

const COLUMNS: Column<ApiKey>[] = [
  {
    id: "name",
    get title() {
      return t("Name");
    },
    cell: ({ id, name }) => (
      <span className={classes.name}>
        <strong>{name}</strong>
        <span className={classes.id}>
          <CopyText text={id} name={t("key")} />
        </span>
      </span>
    ),
  },
  {
    id: "scopes",
    get title() {
      return t("Permissions");
    },
    cell: ({ scopes }) => (
      <span className={classes.badges}>
        {SCOPES.filter(({ scope }) => scopes.includes(scope)).map(({ scope, title }) => (
          <Badge key={scope} tone={scope === "withdraw" ? "warning" : "neutral"}>
            {title}
          </Badge>
        ))}
      </span>
    ),
  },
  {
    id: "networks",
    get title() {
      return t("Allowed addresses");
    },
    cell: ({ ipAllowList }) =>
      ipAllowList.length === 0 ? (
        t("everywhere")
      ) : (
        <span className={`figures ${classes.networks ?? ""}`}>
          {ipAllowList.map((network) => (
            <span key={network}>{network}</span>
          ))}
        </span>
      ),
  },
  {
    id: "algorithm",
    get title() {
      return t("Signature");
    },
    cell: ({ algorithm }) => (algorithm === "ed25519" ? t("Ed25519") : t("HMAC-SHA256")),
  },
  {
    id: "made",
    get title() {
      return t("Made");
    },
    cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
  },
  {
    id: "used",
    get title() {
      return t("Last used");
    },
    cell: ({ lastUsedAt }) =>
      lastUsedAt === null ? t("never") : <TimeText milliseconds={Date.parse(lastUsedAt)} />,
  },
];

/** Keys of programs that act for the user. */
export default function ApiKeysPage() {
  const query = useApiKeys();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const close = () => setDialog(null);
  const create = () => setDialog({ kind: "create" });
  return (
    <>
      <PageHeader
        title={t("API keys")}
        actions={
          <Button leftSection={<PlusIcon />} onClick={create}>
            {t("Create a key")}
          </Button>
        }
      >
        {t(
          "Programs that act for you sign their requests with a key. Each key may do what you allow it, and nothing else.",
        )}
      </PageHeader>
      <Card flush>
        <DataTable
          label={t("API keys")}
          columns={COLUMNS}
          rows={query.data}
          rowId={({ id }) => id}
          rowName={({ name }) => name}
          actions={(apiKey) => [
            { label: t("Copy key"), onClick: () => copyAndTell(apiKey.id) },
            {
              label: apiKey.algorithm === "ed25519" ? t("Replace the public key") : t("Make a new secret"),
              onClick: () => setDialog({ kind: "rotate", apiKey }),
            },
            { label: t("Revoke"), danger: true, onClick: () => setDialog({ kind: "revoke", apiKey }) },
          ]}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState
              title={t("No API keys")}
              action={
                <Button variant="default" onClick={create}>
                  {t("Create your first key")}
                </Button>
              }
            >
              {t("A bot, a tax tool or your own program needs one. People log in with their password.")}
            </EmptyState>
          }
        />
      </Card>
      {dialog?.kind === "create" && <CreateKeyDialog onClose={close} />}
      {dialog?.kind === "rotate" && <RotateKeyDialog apiKey={dialog.apiKey} onClose={close} />}
      {dialog?.kind === "revoke" && <RevokeKeyDialog apiKey={dialog.apiKey} onClose={close} />}
    </>
  );
}
