import { Button, Checkbox, Radio, Stack, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { CopyText } from "#lib/components/CopyText.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { t } from "#lib/language.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import classes from "./KeyDialogs.module.css";
import { NAME_LENGTH_MAX, nameFault, networksFault, networksOf, type Scope, SCOPES } from "./keyRules.ts";
import { KEYS } from "./queries.ts";
import { useSecondFactor } from "./secondFactor.tsx";

export type ApiKey = Schemas["ApiKeyResponse"];
type MadeKey = Schemas["ApiKeySecretResponse"];
type Algorithm = Schemas["Algorithm"];

const PUBLIC_KEY_LENGTH_MAX = 512;

function useRefresh(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries({ queryKey: KEYS });
}

/** Name, permissions, addresses and algorithm of a new key; then its secret, once. */
export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const { rest } = useExchange();
  const refresh = useRefresh();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [addresses, setAddresses] = useState("");
  const [algorithm, setAlgorithm] = useState<Algorithm>("hmac-sha256");
  const [publicKey, setPublicKey] = useState("");
  const [showsFaults, setShowsFaults] = useState(false);
  const [made, setMade] = useState<MadeKey | null>(null);
  const create = useMutation({
    mutationFn: (body: Schemas["CreateApiKeyBody"]) => returned(rest.POST("/api/v1/api-keys", { body })),
    onSuccess: setMade,
    onError: () => factor.clear(),
    // A key may have been made although its response was lost.
    onSettled: refresh,
  });
  const factor = useSecondFactor(create.error);
  const networks = networksOf(addresses);
  const faults = {
    name: nameFault(name),
    scopes: scopes.length === 0 ? t("Choose at least one permission.") : null,
    networks: networksFault(networks, scopes),
    publicKey: algorithm === "ed25519" && publicKey.trim() === "" ? t("Paste the public key.") : null,
  };
  const hasFault = Object.values(faults).some((fault) => fault !== null);
  if (made) return <SecretDialog made={made} title={t("The key is made")} onClose={onClose} />;
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title={t("Create an API key")}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setShowsFaults(true);
          if (hasFault || factor.isMissing || create.isPending) return;
          create.mutate({
            name: name.trim(),
            scopes: [...scopes],
            ipAllowList: networks,
            algorithm,
            ...(algorithm === "ed25519" ? { publicKey: publicKey.trim() } : {}),
            ...factor.body,
          });
        }}
      >
        <Stack gap="md">
          <TextInput
            label={t("Name")}
            description={t("What will use it, such as “trading bot”.")}
            value={name}
            error={showsFaults ? faults.name : null}
            maxLength={NAME_LENGTH_MAX}
            data-autofocus
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Checkbox.Group
            label={t("Permissions")}
            value={[...scopes]}
            error={showsFaults ? faults.scopes : null}
            onChange={(chosen) =>
              setScopes(SCOPES.map(({ scope }) => scope).filter((scope) => chosen.includes(scope)))
            }
          >
            <div className={classes.scopes}>
              {SCOPES.map(({ scope, title, text }) => (
                <Checkbox key={scope} value={scope} label={title} description={text} />
              ))}
            </div>
          </Checkbox.Group>
          {scopes.includes("withdraw") && (
            <WarningNote>
              {t("Whoever has this key can send your funds to your saved addresses.")}
            </WarningNote>
          )}
          <Textarea
            label={t("Allowed addresses")}
            description={t(
              "Addresses or networks such as 203.0.113.0/24, one a line. Empty: from everywhere.",
            )}
            value={addresses}
            error={showsFaults ? faults.networks : null}
            autosize
            minRows={2}
            maxRows={6}
            spellCheck={false}
            className={classes.key}
            onChange={(event) => setAddresses(event.currentTarget.value)}
          />
          <Radio.Group
            label={t("Signature")}
            value={algorithm}
            onChange={(value) => setAlgorithm(value === "ed25519" ? "ed25519" : "hmac-sha256")}
          >
            <div className={classes.scopes}>
              <Radio
                value="hmac-sha256"
                label={t("HMAC-SHA256")}
                description={t("The exchange makes a secret and shows it once.")}
              />
              <Radio
                value="ed25519"
                label={t("Ed25519")}
                description={t("You keep the private key; the exchange has the public one.")}
              />
            </div>
          </Radio.Group>
          {algorithm === "ed25519" && (
            <PublicKeyField
              value={publicKey}
              error={showsFaults ? faults.publicKey : null}
              onChange={setPublicKey}
            />
          )}
          {factor.field}
          {create.error && <ProblemNote problem={explain(create.error)} />}
          <Button type="submit" loading={create.isPending} disabled={factor.isMissing}>
            {t("Create the key")}
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}

function PublicKeyField({
  value,
  error,
  onChange,
}: {
  value: string;
  error: string | null;
  onChange: (value: string) => void;
}) {
  return (
    <Textarea
      label={t("Public key")}
      description={t("PEM, or base64: what “openssl pkey -in key.pem -pubout” prints.")}
      value={value}
      error={error}
      autosize
      minRows={3}
      maxRows={6}
      maxLength={PUBLIC_KEY_LENGTH_MAX}
      spellCheck={false}
      className={classes.key}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** A new secret for a key, or its new public key. */
export function RotateKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { rest } = useExchange();
  const refresh = useRefresh();
  const [publicKey, setPublicKey] = useState("");
  const [made, setMade] = useState<MadeKey | null>(null);
  const rotate = useMutation({
    mutationFn: (body: Schemas["RotateApiKeyBody"]) =>
      returned(rest.POST("/api/v1/api-keys/{id}/rotate", { params: { path: { id: apiKey.id } }, body })),
    onSuccess: setMade,
    onError: () => factor.clear(),
    onSettled: refresh,
  });
  const factor = useSecondFactor(rotate.error);
  const isEd25519 = apiKey.algorithm === "ed25519";
  const isMissing = factor.isMissing || (isEd25519 && publicKey.trim() === "");
  if (made)
    return (
      <SecretDialog
        made={made}
        title={isEd25519 ? t("The key is replaced") : t("The new secret")}
        onClose={onClose}
      />
    );
  return (
    <Dialog
      onClose={onClose}
      title={
        isEd25519
          ? t("Replace the public key of {name}?", { name: apiKey.name })
          : t("Make a new secret for {name}?", { name: apiKey.name })
      }
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isMissing || rotate.isPending) return;
          rotate.mutate({ ...(isEd25519 ? { publicKey: publicKey.trim() } : {}), ...factor.body });
        }}
      >
        <Stack gap="md">
          <WarningNote>
            {t("The old one stops at once: programs that use it are refused until they have the new one.")}
          </WarningNote>
          {isEd25519 && <PublicKeyField value={publicKey} error={null} onChange={setPublicKey} />}
          {factor.field}
          {rotate.error && <ProblemNote problem={explain(rotate.error)} />}
          <Button type="submit" loading={rotate.isPending} disabled={isMissing}>
            {isEd25519 ? t("Replace the public key") : t("Make a new secret")}
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}

/** What is shown this once. It closes by its button alone. */
function SecretDialog({ made, title, onClose }: { made: MadeKey; title: string; onClose: () => void }) {
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title={title}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack gap="md">
        {made.secret === null ? (
          <p className={classes.text}>
            {t("Sign with your private key. The exchange has the public one alone.")}
          </p>
        ) : (
          <WarningNote>
            {t(
              "The secret is shown this once. Keep it where you keep passwords; if it is lost, make a new one.",
            )}
          </WarningNote>
        )}
        <dl className={classes.facts}>
          <div>
            <dt>{t("Key, sent as X-API-Key")}</dt>
            <dd>
              <CopyText text={made.id} name={t("key")} />
            </dd>
          </div>
          {made.secret !== null && (
            <div>
              <dt>{t("Secret, which signs requests")}</dt>
              <dd>
                <CopyText text={made.secret} name={t("secret")} />
              </dd>
            </div>
          )}
        </dl>
        <Button onClick={onClose}>{made.secret === null ? t("Done") : t("I have kept the secret")}</Button>
      </Stack>
    </Dialog>
  );
}

/** Ends a key. */
export function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { rest } = useExchange();
  const refresh = useRefresh();
  const revoke = useMutation({
    mutationFn: () => returned(rest.DELETE("/api/v1/api-keys/{id}", { params: { path: { id: apiKey.id } } })),
    onSuccess: () => {
      toastDone(t("{name} is revoked", { name: apiKey.name }), t("No process takes it any more."));
      onClose();
    },
    onSettled: refresh,
  });
  return (
    <ConfirmDialog
      title={t("Revoke {name}?", { name: apiKey.name })}
      operator=""
      confirm={t("Revoke the key")}
      danger
      isBusy={revoke.isPending}
      problem={explainIfAny(revoke.error)}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      <p>
        {t(
          "Programs that use it are refused at once, and their streams end. Orders that they placed stay in the book. This cannot be undone.",
        )}
      </p>
    </ConfirmDialog>
  );
}
