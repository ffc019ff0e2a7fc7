import { Kbd } from "@mantine/core";
import { t } from "../language.ts";
import { Dialog } from "./Dialog.tsx";
import classes from "./Shortcuts.module.css";

/** A dialog with what each key does. */
export default function ShortcutList({
  title: heading,
  shortcuts,
  onClose,
}: {
  title: string;
  shortcuts: readonly { keys: string; title: string }[];
  onClose: () => void;
}) {
  return (
    <Dialog onClose={onClose} title={heading} closeButtonProps={{ "aria-label": t("Close") }}>
      <dl className={classes.list}>
        {shortcuts.map(({ keys, title }) => (
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
  );
}
