import { Modal, type ModalProps } from "@mantine/core";
import { useEffect, useState } from "react";

/** A dialog that is open as long as it is shown. Afterwards the focus is where it was before. */
export function Dialog(props: Omit<ModalProps, "opened">) {
  useReturnedFocus();
  return <Modal opened {...props} />;
}

/** Give the focus back. The modal does so only if it is closed before it goes. */
function useReturnedFocus(): void {
  const [opener] = useState(focused);
  useEffect(
    () => () => {
      // After the browser has taken the focus from what goes; another dialog may have it by then.
      window.setTimeout(() => {
        if (opener?.isConnected && (document.activeElement ?? document.body) === document.body)
          opener.focus();
      });
    },
    [opener],
  );
}

/** What has the focus; of a menu, which goes with the choice, the button that it belongs to. */
function focused(): HTMLElement | null {
  const active = document.activeElement;
  const owner = active?.closest("[role=menu]")?.getAttribute("aria-labelledby");
  const found = owner ? document.getElementById(owner) : active;
  return found instanceof HTMLElement ? found : null;
}
