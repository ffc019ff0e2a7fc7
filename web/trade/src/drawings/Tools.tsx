import { ActionIcon, Button, Popover } from "@mantine/core";
import { ListUnorderedIcon, RedoIcon, TrashIcon, UndoIcon } from "@primer/octicons-react";
import { type KeyboardEvent, type ReactElement, type ReactNode, useState } from "react";
import { several, t } from "#lib/language.ts";
import { type Drawing, KINDS, type Kind } from "./drawing.ts";
import { DrawingTable } from "./DrawingTable.tsx";
import classes from "./Drawings.module.css";
import { ToolIcon } from "./icons.tsx";
import type { DrawingList } from "./useDrawings.ts";
import { kindName } from "./words.ts";

interface ToolsProps {
  list: DrawingList;
  tool: Kind | null;
  snaps: boolean;
  /** Take a tool in hand, or put it away. */
  onTool: (tool: Kind | null) => void;
  onSnap: () => void;
  /** Returns whether a key has been made use of. */
  onKey: (event: globalThis.KeyboardEvent) => boolean;
  onRevise: (drawing: Drawing, changes: Partial<Drawing>) => void;
  onRemove: (ids: readonly string[]) => void;
  /** Select a drawing, and go to the chart. */
  onEdit: (id: string) => void;
}

/** The tools beside the chart. */
export function Tools(props: ToolsProps) {
  const { list, tool, snaps, onTool, onSnap, onKey, onRevise, onRemove, onEdit } = props;
  const { drawings, canUndo, canRedo, undo, redo } = list;
  const [isListOpen, setListOpen] = useState(false);
  const [asks, setAsks] = useState(false);
  const press = (event: KeyboardEvent) => {
    const isUndoing = event.ctrlKey || event.metaKey;
    if (isUndoing && onKey(event.nativeEvent)) event.preventDefault();
  };
  return (
    <div className={classes.tools} role="group" aria-label={t("Drawing tools")} onKeyDown={press}>
      {KINDS.map((kind) => (
        <Tool
          key={kind}
          name={kindName(kind)}
          isPressed={tool === kind}
          onClick={() => onTool(tool === kind ? null : kind)}
        >
          <ToolIcon name={kind} />
        </Tool>
      ))}
      <Tool name={t("Snap to the prices of candles")} isPressed={snaps} onClick={onSnap}>
        <ToolIcon name="snap" />
      </Tool>
      <Tool name={t("Undo")} isDisabled={!canUndo} onClick={undo}>
        <UndoIcon />
      </Tool>
      <Tool name={t("Redo")} isDisabled={!canRedo} onClick={redo}>
        <RedoIcon />
      </Tool>
      <Flyout
        isOpen={isListOpen}
        onOpen={setListOpen}
        name={t("List of drawings")}
        target={
          <Tool name={t("List of drawings")} onClick={() => setListOpen(!isListOpen)}>
            <ListUnorderedIcon />
          </Tool>
        }
      >
        <DrawingTable
          drawings={drawings}
          onRevise={onRevise}
          onRemove={(id) => onRemove([id])}
          onEdit={(id) => {
            setListOpen(false);
            // After the list has given the focus back.
            setTimeout(() => onEdit(id));
          }}
        />
      </Flyout>
      <Flyout
        isOpen={asks}
        onOpen={setAsks}
        name={t("Delete all drawings")}
        target={
          <Tool
            name={t("Delete all drawings")}
            isDisabled={drawings.length === 0}
            onClick={() => setAsks(!asks)}
          >
            <TrashIcon />
          </Tool>
        }
      >
        <div className={classes.question}>
          <p>
            {several(
              drawings.length,
              "Delete {count} drawing of this market?",
              "Delete all {count} drawings of this market?",
            )}
          </p>
          <Button
            size="compact-sm"
            color="red"
            onClick={() => {
              setAsks(false);
              onRemove(drawings.map(({ id }) => id));
            }}
          >
            {t("Delete all")}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => setAsks(false)}>
            {t("Keep them")}
          </Button>
        </div>
      </Flyout>
    </div>
  );
}

function Tool({
  name,
  isPressed,
  isDisabled = false,
  onClick,
  children,
  ...others
}: {
  name: string;
  isPressed?: boolean;
  isDisabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <ActionIcon
      {...others}
      size={28}
      variant={isPressed === true ? "light" : "subtle"}
      color={isPressed === true ? "accent" : "gray"}
      aria-label={name}
      title={name}
      {...(isPressed === undefined ? {} : { "aria-pressed": isPressed })}
      disabled={isDisabled}
      onClick={onClick}
    >
      {children}
    </ActionIcon>
  );
}

/** A small window beside a tool; in sight also while the chart fills the screen. */
function Flyout({
  isOpen,
  onOpen,
  name,
  target,
  children,
}: {
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  name: string;
  target: ReactElement;
  children: ReactNode;
}) {
  return (
    <Popover opened={isOpen} onChange={onOpen} position="right-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label={name} p={8}>
        {children}
      </Popover.Dropdown>
    </Popover>
  );
}
