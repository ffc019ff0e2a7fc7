import { Loader } from "@mantine/core";
import type { ComponentProps } from "react";
import classes from "./RowButton.module.css";

interface RowButtonProps extends ComponentProps<"button"> {
  /** Whether what it started goes on; it cannot be pressed again meanwhile. */
  isBusy?: boolean;
}

/** A small button of a row. A list has hundreds, and one of the library takes as long as the rest of its row. */
export function RowButton({ isBusy = false, children, ...rest }: RowButtonProps) {
  return (
    <button
      type="button"
      className={classes.button}
      disabled={isBusy}
      aria-busy={isBusy || undefined}
      {...rest}
    >
      {isBusy ? <Loader size={12} color="gray" /> : children}
    </button>
  );
}
