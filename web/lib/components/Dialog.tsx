import { Modal, type ModalProps } from "@mantine/core";
import { type RefObject, useEffect, useRef, useState } from "react";
import classes from "./Dialog.module.css";

/** A dialog that is open as long as it is shown. Afterwards the focus is where it was before. */
export function Dialog({ children, ...others }: Omit<ModalProps, "opened">) {
  const content = useRef<HTMLDivElement>(null);
  const last = useRef<HTMLElement>(null);
  useReturnedFocus();
  useKeptFocus(content, last);
  return (
    <Modal opened {...others}>
      <div ref={content} className={classes.content} onFocus={({ target }) => (last.current = target)}>
        {children}
      </div>
    </Modal>
  );
}

const isNowhere = () => (document.activeElement ?? document.body) === document.body;

/** Where the pages of both applications begin. */
const CONTENT = "main[tabindex], main > [tabindex]";
const FOCUSABLE = ["[data-autofocus]", "input:enabled, button:enabled, textarea:enabled, a[href]"];

/**
 * Keep the focus in a dialog of several steps: what had it (`last`) goes with its step, and the modal looks after the
 * first step alone. Whoever uses the keyboard would go on behind the dialog.
 */
function useKeptFocus(content: RefObject<HTMLElement | null>, last: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (!isNowhere()) return;
    if (last.current?.isConnected) {
      // A button that was busy has lost it, and takes it as soon as it can be pressed again.
      last.current.focus();
      return;
    }
    const found = FOCUSABLE.map((those) => content.current?.querySelector<HTMLElement>(those));
    found.find(Boolean)?.focus();
  });
}

/** Give the focus back. The modal does so only if it is closed before it goes. */
function useReturnedFocus(): void {
  const [opener] = useState(focused);
  useEffect(
    () => () => {
      // After the browser has taken the focus from what goes; another dialog may have it by then.
      window.setTimeout(() => {
        if (isNowhere() && opener?.isConnected) opener.focus();
        // What opened it may have gone with what was done, or take no click now: the next key goes on in the page.
        if (isNowhere()) document.querySelector<HTMLElement>(CONTENT)?.focus({ preventScroll: true });
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
