import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../engine/messages.ts";
import { daysOf, spanOf } from "../people/span.ts";
import { type HouseFlow, useHouseFlows } from "../people/treasury.ts";
import { DayFilters, NO_DAYS } from "./DayFilters.tsx";
import { FilterBar } from "./filters.tsx";
import { flowCategoryName } from "./flowCategories.ts";
import { AdjustmentBadge } from "./PersonBadges.tsx";
import { SaveAsFile } from "./SaveAsFile.tsx";

const COLUMNS: readonly Column<HouseFlow>[] = [
  { id: "made", title: "Recorded", cell: (row) => <TimeText milliseconds={Date.parse(row.createdAt)} /> },
  { id: "account", title: "Account", cell: (row) => row.account },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: (row) => <Amount value={row.amount} unit={row.asset} signed />,
  },
  { id: "category", title: "Category", cell: (row) => flowCategoryName(row.category) },
  { id: "reference", title: "Reference", cell: (row) => row.reference },
  { id: "reason", title: "Reason", cell: (row) => row.reason },
  { id: "by", title: "By", cell: (row) => row.requestedBy },
  { id: "approved", title: "Approved by", cell: (row) => row.approvedBy ?? "alone" },
  { id: "state", title: "State", cell: (row) => <AdjustmentBadge status={row.status} /> },
];

/** What came into accounts of the house from outside, and what went there. */
export function HouseFlows() {
  const url = useUrlState();
  const span = spanOf(daysOf(url.parameter));
  const isFiltered = Object.keys(span).length > 0;
  const { query, rows } = useHouseFlows(span);
  return (
    <Card
      title="From and to outside"
      actions={
        <SaveAsFile
          path="treasury/flows"
          name="house_flows"
          needs="balances.export"
          given={{ ...span }}
          holds="with external references"
        />
      }
      flush
    >
      <DataTable
        label="Money of the house from and to outside"
        toolbar={
          <FilterBar isFiltered={isFiltered} onClear={() => url.change(NO_DAYS)}>
            <DayFilters url={url} />
          </FilterBar>
        }
        columns={COLUMNS}
        rows={rows}
        rowId={({ id }) => id}
        rowName={(row) => `${row.amount} ${row.asset} of ${row.account}`}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={isFiltered ? "Nothing was recorded then" : "Nothing was recorded"}>
            What operators record of the house&apos;s money from and to outside appears here; what waits for
            another person is among the approvals.
          </EmptyState>
        }
        footer={<ShowOlder query={query} />}
      />
    </Card>
  );
}
