import type { ReactNode } from "react";
import classes from "./Badge.module.css";

export type Tone = "positive" | "negative" | "warning" | "neutral" | "accent";

/** A state in a word; the shape before it says the same without colour. */
export function Badge({ tone, shape, children }: { tone: Tone; shape?: string; children: ReactNode }) {
  return (
    <span className={classes.badge} data-tone={tone}>
      {shape && (
        <span aria-hidden className={classes.shape}>
          {shape}
        </span>
      )}
      {children}
    </span>
  );
}
