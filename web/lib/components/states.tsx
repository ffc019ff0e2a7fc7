import { Button } from "@mantine/core";
import { AlertIcon, InboxIcon, SyncIcon } from "@primer/octicons-react";
import type { ReactNode } from "react";
import { t } from "../language.ts";
import classes from "./states.module.css";

/** What went wrong, and what to do next. */
export interface Problem {
  title: string;
  /** The error in the words of whoever raised it. */
  detail: string;
  /** The language of these words, if it is not that of the page. */
  language?: string;
  /** What the reader can do. */
  advice: string;
}

interface StateProps {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

/** There is nothing to show, and why. */
export function EmptyState({ title, children, action }: StateProps) {
  return (
    <div className={classes.state}>
      <span className={classes.icon} aria-hidden>
        <InboxIcon size={24} />
      </span>
      <p className={classes.title}>{title}</p>
      {children && <p className={classes.text}>{children}</p>}
      {action}
    </div>
  );
}

/** Something could not be read. */
export function ErrorState({ problem, onRetry }: { problem: Problem; onRetry?: (() => void) | undefined }) {
  return (
    <div className={classes.state} role="alert">
      <span className={classes.icon} data-tone="negative" aria-hidden>
        <AlertIcon size={24} />
      </span>
      <p className={classes.title}>{problem.title}</p>
      <p className={classes.detail} lang={problem.language}>
        {problem.detail}
      </p>
      <p className={classes.text}>{problem.advice}</p>
      {onRetry && (
        <Button variant="default" leftSection={<SyncIcon />} onClick={onRetry}>
          {t("Try again")}
        </Button>
      )}
    </div>
  );
}

/** A failure inside a dialog or a form. */
export function ProblemNote({ problem }: { problem: Problem }) {
  return (
    <div className={classes.note} role="alert">
      <AlertIcon className={classes.noteIcon} />
      <div>
        <p className={classes.title}>{problem.title}</p>
        <p className={classes.detail} lang={problem.language}>
          {problem.detail}
        </p>
        <p className={classes.text}>{problem.advice}</p>
      </div>
    </div>
  );
}

/** A hint that the reader should see before acting. */
export function WarningNote({ children }: { children: ReactNode }) {
  return (
    <div className={classes.note} data-tone="warning" role="note">
      <AlertIcon className={classes.noteIcon} />
      <div>{children}</div>
    </div>
  );
}
