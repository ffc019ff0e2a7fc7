import { Tooltip } from "@mantine/core";
import { t } from "../language.ts";
import classes from "./StatusPill.module.css";

interface StatusPillProps {
  tone: "positive" | "warning" | "negative";
  word: string;
  /** What the word means, in a tooltip of pointer and keyboard. */
  meaning: string;
}

/** The state of a connection, in a word; on a phone a good one is a dot alone. */
export function StatusPill({ tone, word, meaning }: StatusPillProps) {
  return (
    <Tooltip label={meaning} events={{ hover: true, focus: true, touch: true }}>
      <span
        className={classes.state}
        data-tone={tone}
        role="status"
        aria-label={t("Connection: {word}", { word })}
        tabIndex={0}
      >
        <span className={classes.dot} aria-hidden />
        <span className={classes.word}>{word}</span>
      </span>
    </Tooltip>
  );
}
