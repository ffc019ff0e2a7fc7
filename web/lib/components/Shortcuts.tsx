import { ActionIcon, Kbd, Tooltip } from "@mantine/core";
import { QuestionIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Dialog } from "./Dialog.tsx";
import { useShortcuts } from "../shortcuts.ts";
import classes from "./Shortcuts.module.css";

const TITLE = "Keyboard shortcuts";

interface ShortcutsProps {
  /** Every key that does something, wherever it is registered. */
  shortcuts: readonly { keys: string; title: string }[];
}

/** The list of all shortcuts, behind `?` and a button of the header. */
export function Shortcuts({ shortcuts }: ShortcutsProps) {
  const [isOpen, setOpen] = useState(false);
  const own = { keys: "?", title: "Show these shortcuts", run: () => setOpen(true) };
  useShortcuts([own]);
  return (
    <>
      <Tooltip label={`${TITLE} (?)`}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={TITLE}
          className={classes.button}
          onClick={own.run}
        >
          <QuestionIcon />
        </ActionIcon>
      </Tooltip>
      {isOpen && (
        <Dialog onClose={() => setOpen(false)} title={TITLE} closeButtonProps={{ "aria-label": "Close" }}>
          <dl className={classes.list}>
            {[own, ...shortcuts].map(({ keys, title }) => (
              <div key={keys}>
                <dt>
                  {keys.split(" ").map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </dt>
                <dd>{title}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  );
}
