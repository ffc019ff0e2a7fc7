import { Button } from "@mantine/core";
import { LockIcon, UnlockIcon } from "@primer/octicons-react";
import { t } from "#lib/language.ts";
import { lock, unlock } from "./habits.ts";
import classes from "./OrderForm.module.css";

/** Opens and closes one-click mode. */
export default function OneClickLock({ userId, isOpen }: { userId: string; isOpen: boolean }) {
  return (
    <Button
      size="compact-xs"
      variant={isOpen ? "light" : "default"}
      className={classes.lock}
      leftSection={isOpen ? <UnlockIcon size={12} /> : <LockIcon size={12} />}
      onClick={() => (isOpen ? lock() : unlock(userId))}
    >
      {isOpen ? t("Lock one-click orders") : t("Unlock one-click orders")}
    </Button>
  );
}
