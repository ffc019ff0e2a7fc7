import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "#lib/language.ts";
import classes from "./FormSheet.module.css";

/** The order form of a phone: a sheet at the lower edge, where the thumb is. */
export default function FormSheet({ children, onClose }: { children: ReactNode; onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("Order form")}
      closeButtonProps={{ "aria-label": t("Close") }}
      transitionProps={{ transition: "slide-up", duration: 150 }}
      yOffset={0}
      xOffset={0}
      classNames={{
        inner: classes.inner,
        content: classes.content,
        header: classes.header,
        title: classes.title,
        body: classes.body,
      }}
    >
      {children}
    </Modal>
  );
}
