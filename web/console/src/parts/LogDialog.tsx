import { Select, Switch } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Dialog } from "#lib/components/Dialog.tsx";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { explainIfAny } from "../engine/messages.ts";
import { type Level, type LogLine, type ShownEnd, useEnds, useLog } from "../operator/processes.ts";
import classes from "./LogDialog.module.css";

const LEVELS: readonly { value: Level; label: string }[] = [
  { value: "debug", label: "Everything" },
  { value: "info", label: "Information and above" },
  { value: "warning", label: "Warnings and errors" },
  { value: "error", label: "Errors alone" },
];

const CLOSE = { "aria-label": "Close" };

interface LogDialogProps {
  /** The name of a process; empty for all. */
  process: string;
  title: string;
  onClose: () => void;
}

/** The newest lines of a process, which grow while they are followed. */
export function LogDialog({ process, title, onClose }: LogDialogProps) {
  const [level, setLevel] = useState<Level>("info");
  const [isFollowed, setFollowed] = useState(true);
  const query = useLog(process, level, isFollowed);
  const problem = explainIfAny(query.error);
  return (
    <Dialog title={`Log: ${title}`} size="xl" closeButtonProps={CLOSE} onClose={onClose}>
      <div className={classes.bar}>
        <Select
          label="Level"
          data={LEVELS}
          value={level}
          allowDeselect={false}
          onChange={(value) => {
            const chosen = LEVELS.find((each) => each.value === value);
            if (chosen) setLevel(chosen.value);
          }}
        />
        <Switch
          label="Follow"
          checked={isFollowed}
          onChange={(event) => setFollowed(event.currentTarget.checked)}
        />
      </div>
      {problem && <ErrorState problem={problem} onRetry={() => void query.refetch()} />}
      {query.data && (
        <Lines lines={query.data.lines} isCut={query.data.isCut} isFollowed={isFollowed} title={title} />
      )}
    </Dialog>
  );
}

interface LinesProps {
  lines: readonly LogLine[];
  isCut: boolean;
  isFollowed: boolean;
  title: string;
}

function Lines({ lines, isCut, isFollowed, title }: LinesProps) {
  const list = useRef<HTMLDivElement>(null);
  const newest = lines.at(-1)?.number;
  useEffect(() => {
    if (isFollowed && list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [isFollowed, newest]);
  if (lines.length === 0) {
    return <EmptyState title="No lines">Nothing of this level was written lately.</EmptyState>;
  }
  return (
    // The keyboard scrolls it.
    <div ref={list} className={classes.lines} role="log" aria-label={`Log of ${title}`} tabIndex={0}>
      {isCut && <div>… older lines: `openspot logs` on the machine</div>}
      {lines.map(({ number, at, level, service, text }) => (
        <div key={number} data-level={level}>
          {[at, level, service, text].filter((part) => part !== "").join("  ")}
        </div>
      ))}
    </div>
  );
}

interface LastLinesProps {
  /** Which end: whose, and when. */
  end: Pick<ShownEnd, "process" | "atMs">;
  title: string;
  onClose: () => void;
}

/** The last lines that a process wrote before it ended. */
export function LastLinesDialog({ end, title, onClose }: LastLinesProps) {
  const query = useEnds();
  const problem = explainIfAny(query.error);
  const found = query.data?.find(({ process, atMs }) => process === end.process && atMs === end.atMs);
  return (
    <Dialog title={`Last lines: ${title}`} size="xl" closeButtonProps={CLOSE} onClose={onClose}>
      {problem && <ErrorState problem={problem} onRetry={() => void query.refetch()} />}
      {query.data && !found?.lines.length && (
        <EmptyState title="No lines">It wrote none, or they are not kept any more.</EmptyState>
      )}
      {found && found.lines.length > 0 && (
        <ol className={classes.lines} aria-label={`Last lines of ${title}`} tabIndex={0}>
          {found.lines.map((line, index) => (
            <li key={`${index} ${line}`}>{line}</li>
          ))}
        </ol>
      )}
    </Dialog>
  );
}
