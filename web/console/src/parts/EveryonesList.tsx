import { CopyIcon, PersonIcon } from "@primer/octicons-react";
import { useLocation } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import type { RowAction } from "#lib/components/RowMenu.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../engine/messages.ts";
import type { Edge, Slice } from "../operator/client.ts";
import type { Permission } from "../operator/session.ts";
import { type ListFilter, listQuery, useGrowingList } from "../people/queries.ts";
import { daysOf } from "../people/span.ts";
import { DayFilters, NO_DAYS } from "./DayFilters.tsx";
import { ChoiceFilter, FilterBar, TextFilter } from "./filters.tsx";
import { SaveAsFile } from "./SaveAsFile.tsx";
import { SavedViews, type ViewPage } from "./SavedViews.tsx";

interface OwnFilter {
  parameter: "assignee";
  label: string;
  any: string;
  choices: readonly { value: string; label: string }[];
}

interface Props<Row> {
  /** Names the list at the edge: "deposits". */
  name: "withdrawals" | "deposits" | "payments";
  /** The end of the page's address. */
  page: ViewPage;
  title: string;
  text: string;
  states: readonly { value: string; label: string }[];
  columns: readonly Column<Row>[];
  rowId: (row: Row) => string;
  userOf: (row: Row) => string;
  exportNeeds: Permission;
  /** A filter of this list alone, which has its own parameter in the address. */
  filter?: OwnFilter;
  /** What else can be done with a row. */
  actions?: (row: Row) => readonly RowAction[];
  read: (
    edge: Edge,
    query: ReturnType<typeof listQuery> & { assignee?: string } & { limit: number; cursor?: string },
    signal: AbortSignal,
  ) => Promise<Slice<Row>>;
}

/** A page with a list over all users: its filters, and the way to save it as a file. */
export function EveryonesList<Row>(props: Props<Row>) {
  const { name, page, title, text, states, columns, rowId, userOf, exportNeeds, read } = props;
  const url = useUrlState();
  const [, navigate] = useLocation();
  const filter: ListFilter = {
    userId: url.parameter("user"),
    asset: url.parameter("asset"),
    state: states.find(({ value }) => value === url.parameter("state"))?.value ?? "",
    ...daysOf(url.parameter),
  };
  const own = props.filter && url.parameter(props.filter.parameter);
  const given = {
    ...listQuery(filter),
    ...(props.filter && own ? { assignee: own } : {}),
  };
  const { query, rows } = useGrowingList<Row>([name, given], (edge, place, signal) =>
    read(edge, { ...given, ...place }, signal),
  );
  return (
    <>
      <PageHeader
        title={title}
        actions={
          <>
            <SavedViews page={page} />
            <SaveAsFile path={name} name={name} needs={exportNeeds} given={given} />
          </>
        }
      >
        {text}
      </PageHeader>
      <Card flush>
        <DataTable
          label={title}
          toolbar={
            <FilterBar
              isFiltered={Object.keys(given).length > 0}
              onClear={() =>
                url.change({
                  user: null,
                  asset: null,
                  state: null,
                  ...NO_DAYS,
                  ...(props.filter ? { assignee: null } : {}),
                })
              }
            >
              <TextFilter label="User id" value={filter.userId} onChange={(user) => url.change({ user })} />
              <TextFilter
                label="Asset"
                value={filter.asset}
                onChange={(asset) => url.change({ asset: asset.toUpperCase() })}
              />
              <ChoiceFilter
                label="State"
                any="Any state"
                value={filter.state}
                choices={states}
                onChange={(state) => url.change({ state })}
              />
              {props.filter && (
                <ChoiceFilter
                  label={props.filter.label}
                  any={props.filter.any}
                  value={own ?? ""}
                  choices={props.filter.choices}
                  onChange={(value) => url.change({ assignee: value })}
                />
              )}
              <DayFilters url={url} />
            </FilterBar>
          }
          columns={columns}
          rows={rows}
          rowId={rowId}
          rowName={rowId}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState title={`No ${name}`}>
              {Object.keys(given).length > 0 ? "Nothing fits the filters." : "There is nothing yet."}
            </EmptyState>
          }
          actions={(row) => [
            ...(props.actions?.(row) ?? []),
            {
              label: "Open user",
              icon: <PersonIcon />,
              onClick: () => navigate(`/users/${encodeURIComponent(userOf(row))}`),
            },
            { label: "Copy id", icon: <CopyIcon />, onClick: () => copyAndTell(rowId(row)) },
          ]}
          footer={<ShowOlder query={query} />}
        />
      </Card>
    </>
  );
}
