import { Button, Group, Stack } from "@mantine/core";
import { useState } from "react";
import { copyText } from "#lib/components/CopyText.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { saveFile } from "#lib/saveFile.ts";
import classes from "./MfaDialogs.module.css";

/** Codes that are shown once: to copy, to save, and with a question before they are lost. */
export function RecoveryCodes({
  codes,
  asks,
  onBack,
  onClose,
}: {
  codes: readonly string[];
  /** Whether the dialog was closed before the codes were kept. */
  asks: boolean;
  onBack: () => void;
  onClose: () => void;
}) {
  const [isCopied, setCopied] = useState(false);
  if (asks) {
    return (
      <Stack gap="md">
        <WarningNote>
          {t("The codes are never shown again. Without them and without your phone you cannot log in.")}
        </WarningNote>
        <Button onClick={onBack} data-autofocus>
          {t("Back to the codes")}
        </Button>
        <Button variant="default" onClick={onClose}>
          {t("Close without keeping them")}
        </Button>
      </Stack>
    );
  }
  const text = codes.join("\n");
  return (
    <Stack gap="md">
      <WarningNote>
        {t("These are shown once. Each logs you in once if you lose your phone: keep them somewhere else.")}
      </WarningNote>
      <ul className={classes.codes} aria-label={t("Recovery codes")}>
        {codes.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
      <Group grow>
        {/* It says itself that it did: a message would show the codes once more, and lie on the buttons. */}
        <Button variant="default" onClick={() => void copyText(text).then(setCopied)}>
          {isCopied ? t("Copied") : t("Copy all")}
        </Button>
        <Button
          variant="default"
          onClick={() =>
            saveFile(new Blob([`${text}\n`], { type: "text/plain" }), "openspot-recovery-codes.txt")
          }
        >
          {t("Download")}
        </Button>
      </Group>
      <Button onClick={onClose}>{t("I have kept them")}</Button>
    </Stack>
  );
}
