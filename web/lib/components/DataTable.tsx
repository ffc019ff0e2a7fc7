import { ActionIcon, Skeleton, Tooltip, VisuallyHidden } from "@mantine/core";
import { AlertIcon, ChevronDownIcon, ChevronUpIcon, SyncIcon } from "@primer/octicons-react";
import type { CSSProperties, ReactNode } from "react";
import { inSentence, rich, t } from "../language.ts";
import type { Sort } from "../paging.ts";
import { useZone } from "../preferences.ts";
import { formatClock } from "../time.ts";
import classes from "./DataTable.module.css";
import { type RowAction, RowMenu } from "./RowMenu.tsx";
import { ErrorState, type Problem } from "./states.tsx";

export interface Column<Row> {
  id: string;
  title: string;
  cell: (row: Row) => ReactNode;
  align?: "right";
  /** Stays in sight while a wide table is scrolled under it, beside the menu of the row: a button, or what is asked for first. */
  isPinned?: true;
  /** Its place in a card of a phone, in a table that has `card`; without one it is left out there. */
  area?: Area;
  /** Order of two rows; only complete lists can be sorted, a page of a longer one cannot. */
  compare?: (a: Row, b: Row) => number;
}

interface Area {
  /** A name in `card`. */
  name: string;
  align?: "right";
  /** Whether the column's title stands before the value, which would not say itself what it is. */
  isTitled?: true;
}

/** `columns` with their places in a card of a phone, by the columns' ids. */
export function withAreas<Row>(
  columns: readonly Column<Row>[],
  areas: Readonly<Record<string, Area>>,
): Column<Row>[] {
  return columns.map((column) => {
    const area = areas[column.id];
    return area ? { ...column, area } : column;
  });
}

/** What a list's query knows; TanStack Query's result fits. */
export interface ListState {
  isPending: boolean;
  isFetching: boolean;
  dataUpdatedAt: number;
  refetch: () => unknown;
}

interface DataTableProps<Row> {
  /** What the rows are: "Orders". */
  label: string;
  /** What stands above the table: its title, or its filters. */
  toolbar?: ReactNode;
  columns: readonly Column<Row>[];
  rows: readonly Row[] | undefined;
  rowId: (row: Row) => string;
  /** What a row is called in the name of its menu. */
  rowName: (row: Row) => string;
  actions?: (row: Row) => readonly RowAction[];
  state: ListState;
  problem: Problem | null;
  empty: ReactNode;
  /** Show all rows at their full height: for a list that is always short. */
  isWhole?: boolean;
  sort?: Sort | null;
  onSort?: (column: string) => void;
  footer?: ReactNode;
  /** How a row stands in a card of a phone, as a CSS grid template; else each value has a line. */
  card?: string;
}

const SKELETON_ROWS = 6;

/** Keeps in the region's `data-wide` whether its table is wider than it. Cells that stay in sight cost in each frame. */
function observeWidth(region: HTMLDivElement | null) {
  if (!region) return;
  const observer = new ResizeObserver(() =>
    region.toggleAttribute("data-wide", region.scrollWidth > region.clientWidth),
  );
  for (const element of [region, ...region.children]) observer.observe(element);
  return () => observer.disconnect();
}

/** A table with a head that stays, a menu for each row, and states for loading, nothing, failure and old data. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowId, rowName, actions, state, problem, empty, sort, onSort, footer } =
    props;
  const top = (
    <div className={classes.toolbar}>
      {props.toolbar}
      <Freshness state={state} problem={problem} />
    </div>
  );
  if (rows === undefined && problem) {
    return (
      <>
        {top}
        <ErrorState problem={problem} onRetry={() => void state.refetch()} />
      </>
    );
  }
  if (rows?.length === 0) {
    return (
      <>
        {top}
        {empty}
        {footer}
      </>
    );
  }
  return (
    <>
      {top}
      <div
        ref={observeWidth}
        className={classes.scroll}
        role="region"
        aria-label={t("{label}, scrollable", { label })}
        tabIndex={0}
        data-whole={props.isWhole === true || undefined}
      >
        <table
          className={classes.table}
          role="table"
          aria-label={label}
          aria-busy={rows === undefined}
          data-stale={problem !== null || undefined}
          data-card={(props.card !== undefined && rows !== undefined) || undefined}
          style={{ "--card": props.card } as CSSProperties}
        >
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <Head key={column.id} column={column} sort={sort ?? null} onSort={onSort} />
              ))}
              {actions && (
                <th scope="col" role="columnheader" className={classes.menu}>
                  <VisuallyHidden>{t("Actions")}</VisuallyHidden>
                </th>
              )}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows?.map((row) => (
              <tr key={rowId(row)} role="row">
                {columns.map((column) => (
                  <td
                    key={column.id}
                    role="cell"
                    data-align={column.align}
                    data-pinned={column.isPinned}
                    data-title={column.title}
                    data-area={column.area ? (column.area.align ?? "left") : undefined}
                    data-titled={column.area?.isTitled}
                    style={{ "--area": column.area?.name } as CSSProperties}
                  >
                    {column.cell(row)}
                  </td>
                ))}
                {actions && (
                  <td role="cell" className={classes.menu}>
                    <RowMenu name={rowName(row)} actions={actions(row)} />
                  </td>
                )}
              </tr>
            )) ?? <Loading label={label} columns={columns.length + (actions ? 1 : 0)} />}
          </tbody>
        </table>
      </div>
      {footer}
    </>
  );
}

function Head<Row>({
  column,
  sort,
  onSort,
}: {
  column: Column<Row>;
  sort: Sort | null;
  onSort: ((column: string) => void) | undefined;
}) {
  const isSorted = sort?.column === column.id;
  const order = isSorted ? (sort.descending ? "descending" : "ascending") : undefined;
  return (
    <th
      scope="col"
      role="columnheader"
      data-align={column.align}
      data-pinned={column.isPinned}
      aria-sort={order}
    >
      {column.compare && onSort ? (
        <button type="button" className={classes.sort} onClick={() => onSort(column.id)}>
          {column.title}
          <span aria-hidden className={classes.order} data-shown={isSorted || undefined}>
            {order === "descending" ? <ChevronDownIcon size={12} /> : <ChevronUpIcon size={12} />}
          </span>
        </button>
      ) : (
        column.title
      )}
    </th>
  );
}

function Loading({ label, columns }: { label: string; columns: number }) {
  return Array.from({ length: SKELETON_ROWS }, (_, row) => (
    <tr key={row} role="row">
      {Array.from({ length: columns }, (_, column) => (
        <td key={column} role="cell">
          {row === 0 && column === 0 && (
            <VisuallyHidden>{rich("Loading {label}", { label: inSentence(label) })}</VisuallyHidden>
          )}
          <Skeleton height={12} width={`${60 + ((row * 7 + column * 13) % 35)}%`} />
        </td>
      ))}
    </tr>
  ));
}

function Freshness({ state, problem }: { state: ListState; problem: Problem | null }) {
  const zone = useZone();
  if (state.dataUpdatedAt === 0) return null;
  const clock = formatClock(state.dataUpdatedAt, zone);
  return (
    <div className={classes.freshness} data-stale={problem !== null || undefined}>
      {problem ? (
        <span role="alert" className={classes.stale}>
          <AlertIcon />{" "}
          {rich("{title}. Shown as of {clock}. {advice}", {
            title: problem.title,
            clock,
            advice: problem.advice,
          })}
        </span>
      ) : (
        <span className="figures">{rich("Updated {clock}", { clock })}</span>
      )}
      <Tooltip label={t("Refresh now (R)")}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={t("Refresh")}
          loading={state.isFetching && problem !== null}
          onClick={() => void state.refetch()}
        >
          <SyncIcon size={14} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
