import { AlertIcon, BellIcon, CheckIcon } from "@primer/octicons-react";
import { notifications } from "@mantine/notifications";
import type { ReactNode } from "react";
import { t } from "../language.ts";
import type { Problem } from "./states.tsx";

/** Say that something was done. It leaves by itself. */
export function toastDone(title: string, message?: ReactNode): void {
  notifications.show({
    title,
    message,
    color: "teal",
    icon: <CheckIcon />,
    autoClose: 6000,
    withBorder: true,
    closeButtonProps: { "aria-label": t("Dismiss") },
  });
}

/** Say that something failed. It stays until it is dismissed, since it says what to do. */
export function toastFailed(title: string, message: ReactNode): void {
  notifications.show({
    title,
    message,
    color: "red",
    icon: <AlertIcon />,
    autoClose: false,
    withBorder: true,
    role: "alert",
    closeButtonProps: { "aria-label": t("Dismiss") },
  });
}

/** Say what went wrong and what to do, where there is no dialog to say it in. */
export function toastProblem({ title, detail, language, advice }: Problem): void {
  toastFailed(
    title,
    <>
      <span lang={language}>{detail}</span>. {advice}
    </>,
  );
}

/** Tell what the exchange tells. One that stays is there until it is dismissed. */
export function toastNews(title: string, message: ReactNode, { stays }: { stays: boolean }): void {
  notifications.show({
    title,
    message,
    color: "accent",
    icon: <BellIcon />,
    autoClose: stays ? false : 6000,
    withBorder: true,
    role: stays ? "alert" : "status",
    closeButtonProps: { "aria-label": t("Dismiss") },
  });
}
