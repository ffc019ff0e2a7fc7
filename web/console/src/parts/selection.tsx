import { Button, Checkbox, Menu } from "@mantine/core";
import { ChecklistIcon } from "@primer/octicons-react";
import { useState } from "react";
import type { Column } from "#lib/components/DataTable.tsx";
import { plural } from "#lib/counts.ts";
import { type Permission, useCan } from "../operator/session.ts";
import classes from "./selection.module.css";

export interface Selection {
  /** The chosen rows that the list still shows, in its order. */
  ids: readonly string[];
  has: (id: string) => boolean;
  toggle: (id: string) => void;
  /** Choose the first rows of the list, as many as an action takes. */
  chooseAll: () => void;
  clear: () => void;
}

/** The rows that are chosen among `shown`. A row that has left the list is chosen no more. */
export function useSelection(shown: readonly string[], most: number): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  return {
    ids: shown.filter((id) => chosen.has(id)),
    has: (id) => chosen.has(id),
    toggle: (id) =>
      setChosen((before) => {
        const next = new Set(before);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    chooseAll: () => setChosen(new Set(shown.slice(0, most))),
    clear: () => setChosen(new Set()),
  };
}

/** The column with the box of each row. */
export function choiceColumn<Row>(
  selection: Selection,
  rowId: (row: Row) => string,
  rowName: (row: Row) => string,
): Column<Row> {
  return {
    id: "chosen",
    title: "Chosen",
    cell: (row) => (
      <Checkbox
        size="xs"
        aria-label={`Choose ${rowName(row)}`}
        checked={selection.has(rowId(row))}
        onChange={() => selection.toggle(rowId(row))}
      />
    ),
  };
}

export interface BulkChoice {
  label: string;
  needs: Permission;
  onClick: () => void;
  danger?: boolean;
  /** Why it cannot be done with the chosen rows. */
  disabledReason?: string | undefined;
}

interface BarProps {
  selection: Selection;
  /** What a row is: "user". */
  noun: string;
  most: number;
  choices: readonly BulkChoice[];
}

/** How many rows are chosen, and what can be done with all of them. */
export function SelectionBar({ selection, noun, most, choices }: BarProps) {
  const can = useCan();
  const count = selection.ids.length;
  const isTooMany = count > most;
  return (
    <div className={classes.bar} role="group" aria-label="Chosen rows">
      <span>{count === 0 ? "None chosen" : `${plural(count, noun)} chosen`}</span>
      <Button size="xs" variant="subtle" onClick={selection.chooseAll}>
        Choose all shown
      </Button>
      {count > 0 && (
        <>
          <Button size="xs" variant="subtle" color="gray" onClick={selection.clear}>
            Choose none
          </Button>
          <Menu>
            <Menu.Target>
              <Button
                size="xs"
                variant="default"
                leftSection={<ChecklistIcon />}
                disabled={isTooMany}
                title={isTooMany ? `At most ${plural(most, noun)} at once.` : undefined}
              >
                Do with them
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {choices.map(({ label, needs, onClick, danger, disabledReason }) => (
                <Menu.Item
                  key={label}
                  disabled={!can(needs) || disabledReason !== undefined}
                  title={can(needs) ? disabledReason : `This needs the permission ${needs}.`}
                  data-danger={danger === true ? true : undefined}
                  onClick={onClick}
                >
                  {label}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        </>
      )}
    </div>
  );
}
