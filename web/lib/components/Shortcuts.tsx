import { ActionIcon, Tooltip } from "@mantine/core";
import { QuestionIcon } from "@primer/octicons-react";
import { useState } from "react";
import { t } from "../language.ts";
import { useShortcuts } from "../shortcuts.ts";
import { late, MissingDialog } from "./late.tsx";
import classes from "./Shortcuts.module.css";

/** Dialogs are loaded when the first one is opened. */
const ShortcutList = late(() => import("./ShortcutList.tsx"), { Missing: MissingDialog });

interface ShortcutsProps {
  /** Every key that does something, wherever it is registered. */
  shortcuts: readonly { keys: string; title: string }[];
}

/** The list of all shortcuts, behind `?` and a button of the header. */
export function Shortcuts({ shortcuts }: ShortcutsProps) {
  const [isOpen, setOpen] = useState(false);
  const title = t("Keyboard shortcuts");
  const own = { keys: "?", title: t("Show these shortcuts"), run: () => setOpen(true) };
  useShortcuts([own]);
  return (
    <>
      <Tooltip label={`${title} (?)`}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={title}
          className={classes.button}
          onClick={own.run}
        >
          <QuestionIcon />
        </ActionIcon>
      </Tooltip>
      {isOpen && (
        <ShortcutList title={title} shortcuts={[own, ...shortcuts]} onClose={() => setOpen(false)} />
      )}
    </>
  );
}
