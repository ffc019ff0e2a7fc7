import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import type { RowAction } from "#lib/components/RowMenu.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { rich, t } from "#lib/language.ts";
import type { UrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../api/messages.ts";
import type { Filter } from "./filter.ts";
import type { HistoryList } from "./lists.ts";
import { useHistory } from "./queries.ts";

/** What all tables of the history share. */
export interface View {
  filter: Filter;
  change: UrlState["change"];
  toolbar: ReactNode;
}

interface HistoryTableProps<Row> {
  view: View;
  list: HistoryList<Row>;
  columns: readonly Column<Row>[];
  card?: string;
  rowId: (row: Row) => string;
  rowName: (row: Row) => string;
  actions?: (row: Row) => readonly RowAction[];
  /** What would fill the list. */
  empty: string;
}

/** One list of the history by the filter. */
export function HistoryTable<Row>({ view, list, empty, actions, ...table }: HistoryTableProps<Row>) {
  const { filter, change, toolbar } = view;
  const query = useHistory(list, filter.wanted);
  const last = query.data?.pages.at(-1)?.last ?? null;
  const showAll = (
    <Button variant="default" onClick={() => change({ [list.subject]: null, from: null, to: null })}>
      {t("Show all")}
    </Button>
  );
  return (
    <DataTable
      label={list.title}
      toolbar={toolbar}
      {...table}
      {...(actions ? { actions } : {})}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        !filter.isSet ? (
          <EmptyState title={t("Nothing here yet")}>{empty}</EmptyState>
        ) : query.hasNextPage && last !== null ? (
          <EmptyState title={t("Nothing found so far")}>
            {rich("Looked back to {time}. “Show older” looks further.", {
              time: <TimeText milliseconds={Date.parse(list.timeOf(last))} />,
            })}
          </EmptyState>
        ) : (
          <EmptyState title={t("Nothing matches")} action={showAll}>
            {t("Nothing of yours in this list fits the filter.")}
          </EmptyState>
        )
      }
      footer={<ShowOlder query={query} />}
    />
  );
}
