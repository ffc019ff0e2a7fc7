import { CopyIcon, PersonIcon } from "@primer/octicons-react";
import { useLocation } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../engine/messages.ts";
import { DayFilters, NO_DAYS } from "../parts/DayFilters.tsx";
import { ChoiceFilter, FilterBar, TextFilter } from "../parts/filters.tsx";
import { AdjustmentBadge } from "../parts/PersonBadges.tsx";
import { UserLink } from "../parts/UserLink.tsx";
import { type Adjustment, useAdjustments } from "../people/queries.ts";
import { daysOf, spanOf } from "../people/span.ts";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";

const STATES = [
  { value: "done", label: "Done" },
  { value: "pending", label: "Being sent" },
  { value: "refused", label: "Refused" },
] as const;

const COLUMNS: readonly Column<Adjustment>[] = [
  { id: "made", title: "Made", cell: (row) => <TimeText milliseconds={Date.parse(row.createdAt)} /> },
  { id: "user", title: "User", cell: (row) => <UserLink id={row.userId} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: (row) => <Amount value={row.amount} unit={row.asset} signed />,
  },
  { id: "category", title: "Category", cell: (row) => row.category },
  { id: "reason", title: "Reason", cell: (row) => row.reason },
  { id: "by", title: "By", cell: (row) => row.requestedBy },
  { id: "approved", title: "Approved by", cell: (row) => row.approvedBy ?? "alone" },
  { id: "state", title: "State", cell: (row) => <AdjustmentBadge status={row.status} /> },
];

/** What operators gave to users or took from them. */
export function AdjustmentsPage() {
  const url = useUrlState();
  const [, navigate] = useLocation();
  const userId = url.parameter("user");
  const status = STATES.find(({ value }) => value === url.parameter("state"))?.value;
  const given = {
    ...(userId === "" ? {} : { userId }),
    ...(status === undefined ? {} : { status }),
    ...spanOf(daysOf(url.parameter)),
  };
  const { query, rows } = useAdjustments(given);
  return (
    <>
      <PageHeader
        title="Adjustments"
        actions={
          <>
            <SavedViews page="adjustments" />
            <SaveAsFile path="adjustments" name="adjustments" needs="balances.export" given={given} />
          </>
        }
      >
        What operators gave to users or took from them, in the engine and the ledger. Make one on a
        user&apos;s page; what waits for another person is among the approvals.
      </PageHeader>
      <Card flush>
        <DataTable
          label="Adjustments"
          toolbar={
            <FilterBar
              isFiltered={Object.keys(given).length > 0}
              onClear={() => url.change({ user: null, state: null, ...NO_DAYS })}
            >
              <TextFilter label="User id" value={userId} onChange={(user) => url.change({ user })} />
              <ChoiceFilter
                label="State"
                any="Any state"
                value={status ?? ""}
                choices={STATES}
                onChange={(state) => url.change({ state })}
              />
              <DayFilters url={url} />
            </FilterBar>
          }
          columns={COLUMNS}
          rows={rows}
          rowId={({ id }) => id}
          rowName={(row) => `${row.amount} ${row.asset} of ${row.userId}`}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState title="No adjustments">
              Nothing was given or taken that fits the filters. A user&apos;s page has the way to adjust.
            </EmptyState>
          }
          actions={(row) => [
            {
              label: "Open user",
              icon: <PersonIcon />,
              onClick: () => navigate(`/users/${encodeURIComponent(row.userId)}`),
            },
            { label: "Copy adjustment id", icon: <CopyIcon />, onClick: () => copyAndTell(row.id) },
          ]}
          footer={<ShowOlder query={query} />}
        />
      </Card>
    </>
  );
}
