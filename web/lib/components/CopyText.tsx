import { ActionIcon, Tooltip } from "@mantine/core";
import { CheckIcon, CopyIcon } from "@primer/octicons-react";
import { type ReactNode, useEffect, useState } from "react";
import { t } from "../language.ts";
import classes from "./CopyText.module.css";
import { toastDone, toastFailed } from "./toasts.tsx";

/** Put a text on the clipboard; returns whether the browser allowed it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toastFailed(
      t("Not copied"),
      t("The browser refused the clipboard. Select the text and copy it: {text}", { text }),
    );
    return false;
  }
}

/** Copy a text and say so, for entries of menus. */
export function copyAndTell(text: string): void {
  void copyText(text).then((isCopied) => {
    if (isCopied) toastDone(t("Copied"), text);
  });
}

interface CopyTextProps {
  text: string;
  /** What the text is, for the button's name: "order id". */
  name: string;
  /** What is shown instead of the text itself. */
  children?: ReactNode;
}

/** A text with a button that copies it. */
export function CopyText({ text, name, children }: CopyTextProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <span className={classes.copy}>
      <span className={`figures ${classes.text ?? ""}`}>{children ?? text}</span>
      <Tooltip label={copied ? t("Copied") : t("Copy {name}", { name })}>
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          className={classes.button}
          aria-label={t("Copy {name} {text}", { name, text })}
          onClick={async () => setCopied(await copyText(text))}
        >
          {copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
        </ActionIcon>
      </Tooltip>
    </span>
  );
}
