import { Button, Checkbox, Select, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { rich, t } from "#lib/language.ts";
import { countries } from "../account/countries.ts";
import { useMfa } from "../account/queries.ts";
import { attemptKey, returned, useExchange } from "../api/client.ts";
import { fieldReason } from "../api/fieldReason.ts";
import { explain } from "../api/messages.ts";
import { addressFault, takesTag } from "./addressFormat.ts";
import classes from "../parts/Fields.module.css";
import type { Network } from "../api/queries.ts";
import { ADDRESSES, type SavedAddress } from "./queries.ts";

const CODE_LENGTH_MIN = 6;

/** Saves an address, or a bank account, to withdraw to. */
export function AddressDialog({
  network: { asset, network, fiat },
  onSaved,
  onClose,
}: {
  network: Network;
  onSaved: (address: SavedAddress) => void;
  onClose: () => void;
}) {
  const { rest } = useExchange();
  const client = useQueryClient();
  const mfa = useMfa();
  const data = useMemo(() => countries(), []);
  const [label, setLabel] = useState("");
  const [address, setAddress] = useState("");
  const [tag, setTag] = useState("");
  const [isOwn, setIsOwn] = useState(true);
  const [name, setName] = useState("");
  const [country, setCountry] = useState<string | null>(null);
  const [code, setCode] = useState("");
  const save = useMutation({
    mutationFn: () =>
      returned(
        rest.POST("/api/v1/users/me/withdrawal-addresses", {
          params: { header: { "Idempotency-Key": attemptKey() } },
          body: {
            label: label.trim(),
            asset,
            network,
            address: address.trim(),
            isOwn,
            ...(tag.trim() ? { tag: tag.trim() } : {}),
            ...(isOwn || country === null ? {} : { beneficiary: { name: name.trim(), country } }),
            ...(code.trim() ? { mfaCode: code.trim() } : {}),
          },
        }),
      ),
    onSuccess: (saved) => {
      client.setQueryData<SavedAddress[]>(ADDRESSES, (known) => (known ? [...known, saved] : known));
      void client.invalidateQueries({ queryKey: ADDRESSES });
      toastDone(fiat ? t("The account is saved") : t("The address is saved"), saved.label);
      onSaved(saved);
    },
    onError: () => setCode(""),
  });
  const asksCode = mfa.data?.enabled ?? false;
  const fault = address.trim() === "" ? null : addressFault(network, address.trim());
  const refused = fieldReason(save.error, "address", (reason) =>
    t("The address {refused}.", { refused: reason }),
  );
  const missing = [
    label.trim() === "" && t("a name for it"),
    address.trim() === "" && (fiat ? t("the account") : t("the address")),
    fault !== null && (fiat ? t("an account of the right form") : t("an address of the right form")),
    !isOwn && name.trim() === "" && t("the owner's name"),
    !isOwn && country === null && t("the owner's country"),
    asksCode && code.trim().length < CODE_LENGTH_MIN && t("the code"),
  ].find((one) => one !== false);
  return (
    <Dialog
      onClose={onClose}
      title={fiat ? t("New bank account") : t("New address")}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (missing === undefined && !save.isPending) save.mutate();
        }}
      >
        <Stack gap="md">
          <TextInput
            label={t("Name")}
            description={t("What you call it: “My wallet”.")}
            value={label}
            maxLength={64}
            autoComplete="off"
            data-autofocus
            onChange={(event) => setLabel(event.currentTarget.value)}
          />
          <TextInput
            label={
              fiat
                ? t("Account on the network {network}", { network })
                : t("{asset} address on {network}", { asset, network })
            }
            value={address}
            maxLength={128}
            autoComplete="off"
            spellCheck={false}
            classNames={{ input: "figures" }}
            error={fault ?? refused}
            onChange={(event) => {
              setAddress(event.currentTarget.value);
              save.reset();
            }}
          />
          {takesTag(network) && (
            <TextInput
              label={t("Tag (memo)")}
              description={t("Exchanges need one. Without it your coins can be lost there.")}
              value={tag}
              maxLength={28}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setTag(event.currentTarget.value)}
            />
          )}
          <Checkbox
            label={fiat ? t("It is my own account") : t("It is my own address")}
            checked={isOwn}
            onChange={(event) => setIsOwn(event.currentTarget.checked)}
          />
          {!isOwn && (
            <>
              <TextInput
                label={t("Owner's name")}
                value={name}
                maxLength={64}
                autoComplete="off"
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <Select
                label={t("Owner's country")}
                searchable
                nothingFoundMessage={t("No country of that name")}
                data={data}
                value={country}
                onChange={setCountry}
              />
            </>
          )}
          {asksCode && (
            <TextInput
              label={t("Two-factor authentication code")}
              value={code}
              inputMode="numeric"
              autoComplete="one-time-code"
              maxLength={64}
              onChange={(event) => setCode(event.currentTarget.value)}
            />
          )}
          <WarningNote>
            {rich(
              "A new {destination} may have to wait before it can be used, so that nobody who gets into your account can send everything away at once.",
              { destination: fiat ? t("account") : t("address") },
            )}
          </WarningNote>
          {save.error && <ProblemNote problem={explain(save.error)} />}
          <Button
            type="submit"
            loading={save.isPending}
            disabled={missing !== undefined}
            aria-describedby="address-hint"
          >
            {t("Save it")}
          </Button>
          <p id="address-hint" role="status" className={classes.hint}>
            {missing === undefined ? "" : t("Missing: {missing}.", { missing })}
          </p>
        </Stack>
      </form>
    </Dialog>
  );
}
